// Pieces that several tabs show.
import { call, type Args, type Failure } from './engine';
import { append, command, copy, h, pct, range, save } from './dom';
import { t, tr } from './i18n';
import { get, link, set, type State } from './state';

function follow(this: HTMLAnchorElement, e: MouseEvent): void {
  if (e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  const target: State = Object.fromEntries(Object.keys(get()).map((key) => [key, '']));
  for (const [key, value] of new URLSearchParams(this.getAttribute('href')!)) target[key] = value;
  set(target, true);
  document.getElementById('main')?.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** A link inside the page: works without a reload, and as an address. */
export function inside(patch: State, props: Record<string, unknown>, ...children: (Node | string)[]): HTMLAnchorElement {
  return h('a', { ...props, href: link({ ...get(), ...patch }), onclick: follow }, ...children);
}

/** The rows behind a number: one by its id, or those of a card and precision. */
export function rowsBehind(of: State): State {
  return { tab: 'data', row: of.row ?? '', card: of.row ? '' : (of.gpu ?? ''), prec: of.row ? '' : (of.precision ?? ''), find: '', grade: '', table: '' };
}

/** How a number is known, quietly, with the way to its evidence. */
export function tag(basis: string | null | undefined, evidence?: State): HTMLElement {
  const word = tr('b.', basis ?? 'unavailable');
  const props = { class: `tag ${basis ?? 'unavailable'}` };
  return evidence ? inside(rowsBehind(evidence), { ...props, title: t('evidence') }, word) : h('span', props, word);
}

export interface Fact {
  name: string;
  value: string;
  unit?: string;
  more?: string;
  basis?: string | null;
  evidence?: State;
  tone?: string;
}
export function facts(list: Fact[]): HTMLElement {
  return h('dl', { class: 'facts' }, list.map((f) =>
    h('div', null,
      h('dt', null, f.name),
      h('dd', { class: f.tone }, h('span', { class: 'value' }, f.value, f.unit ? [' ', h('small', null, f.unit)] : null), f.more ? h('span', { class: 'more' }, f.more) : null,
        f.basis !== undefined ? tag(f.basis, f.evidence) : null))));
}

export interface Column<T> {
  name: string;
  cell: (row: T) => Node | string;
  right?: boolean;
}
export function table<T>(caption: string, columns: Column<T>[], rows: T[], mark?: (row: T) => string | undefined): HTMLElement {
  const head = h('tr', null, columns.map((c) => h('th', { scope: 'col', class: c.right ? 'right' : null }, c.name)));
  const body = rows.map((row) => h('tr', { class: mark?.(row) }, columns.map((c) => h('td', { class: c.right ? 'right' : null }, c.cell(row)))));
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption },
    h('table', null, h('caption', { class: 'unseen' }, caption), h('thead', null, head), h('tbody', null, body)));
}

export function button(label: string, act: () => void | Promise<void>, kind = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', class: kind || null, onclick: act }, label);
  return element;
}

export function copier(label: string, text: () => string): HTMLButtonElement {
  const element = button(label, async () => {
    await copy(text());
    element.textContent = t('copied');
    setTimeout(() => (element.textContent = label), 1500);
  });
  return element;
}

/** Copy the answer as Markdown, JSON, command or link. `said`: as the command line has it, where that differs. */
export function takeaway(op: string, args: Args, said: Args = args): HTMLElement {
  const text = command(op, said);
  return h('section', { class: 'take' },
    h('h3', null, t('as command')),
    h('div', { class: 'command' }, h('code', { tabindex: '0' }, text), copier(t('copy.cmd'), () => text)),
    h('div', { class: 'buttons' },
      copier(t('copy.md'), () => call(op, args, 'markdown').text),
      copier(t('copy.json'), () => call(op, args).text),
      copier(t('copy.link'), () => new URL(link(get()), location.href).href)));
}

export function failure(error: Failure): HTMLElement {
  return h('div', { class: 'failure', role: 'alert' }, h('p', null, error.message), error.param ? h('p', { class: 'quiet' }, tr('p.', error.param)) : null);
}

export interface Alert {
  id: string;
  name: string;
  severity: string;
  effect_pct: number | null;
  effect_ci: [number, number] | null;
  why: string;
  fix: string;
  fix_code: string | null;
  measured: string | null;
}
export function alerts(title: string, list: Alert[]): HTMLElement | null {
  if (!list.length) return null;
  return h('section', null, h('h3', null, title),
    list.map((a) => h('div', { class: `alert ${a.severity}` },
      h('p', null, h('strong', null, a.name), ' ', h('span', { class: 'quiet' }, tr('s.', a.severity)),
        a.effect_pct !== null ? h('span', { class: 'effect' }, ` · ${pct(a.effect_pct)}${a.effect_ci ? ` (${range(a.effect_ci, pct)})` : ''}`) : null),
      h('p', null, a.why),
      h('p', null, `${t('fix')}: ${a.fix}`, a.fix_code ? h('code', null, a.fix_code) : null),
      a.measured ? h('p', { class: 'quiet' }, a.measured) : null)));
}

export function list(title: string, items: string[]): HTMLElement | null {
  return items.length ? h('section', null, h('h3', null, title), h('ul', null, items.map((i) => h('li', null, i)))) : null;
}

/** Bands of a change on one axis with zero marked: 50, 80 and 95 %. */
export interface Bands {
  median: number;
  lo50: number;
  hi50: number;
  lo80: number;
  hi80: number;
  lo95: number;
  hi95: number;
}
export function strip(b: Bands): HTMLElement {
  const lo = Math.min(b.lo95, -10) - 5;
  const hi = Math.max(b.hi95, 10) + 5;
  const at = (v: number): string => `${((100 * (v - lo)) / (hi - lo)).toFixed(2)}%`;
  const bar = (from: number, to: number, kind: string): HTMLElement => {
    const element = h('i', { class: kind });
    element.style.left = at(from);
    element.style.width = `calc(${at(to)} - ${at(from)})`;
    return element;
  };
  const tick = (v: number, kind: string, label: string): HTMLElement => {
    const element = h('b', { class: kind }, h('span', null, label));
    element.style.left = kind === 'end' ? `clamp(2.1em, ${at(v)}, calc(100% - 2.1em))` : at(v); // inside, at either edge
    return element;
  };
  return h('div', { class: 'strip', role: 'img', 'aria-label': `${t('bands')}: ${pct(b.lo50)} … ${pct(b.hi50)}, ${pct(b.lo80)} … ${pct(b.hi80)}, ${pct(b.lo95)} … ${pct(b.hi95)}` },
    h('div', { class: 'track' }, bar(b.lo95, b.hi95, 'b95'), bar(b.lo80, b.hi80, 'b80'), bar(b.lo50, b.hi50, 'b50'),
      tick(0, 'zero', '0'), tick(b.median, 'mid', '')),
    h('div', { class: 'ends' }, tick(b.lo95, 'end', pct(b.lo95)), tick(b.hi95, 'end', pct(b.hi95))));
}

export function saveText(name: string, text: string, type: string): void {
  save(name, new Blob([text], { type }));
}

/** A part that is filled anew with each answer. */
export function fill(box: HTMLElement, ...children: (Node | null)[]): void {
  box.replaceChildren();
  append(box, children);
}
