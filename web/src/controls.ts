// Controls made from the table of operations: kinds, ranges, choices and help are its, not ours.
import { ask, operation, schema, type Args, type Row } from './engine';
import { append, h } from './dom';
import { language, t, tr } from './i18n';
import { get, set } from './state';

interface Card {
  name: string;
  gpu: string;
  arch: string;
  pairs: number;
}
let cards: Card[] | null = null;
export function allCards(): Card[] {
  if (!cards) {
    const reply = ask<{ gpus: Card[] }>('gpus', {});
    cards = 'result' in reply ? reply.result.gpus : [];
  }
  return cards;
}

export const DEFAULTS: Record<string, string> = { model: 'Qwen2.5-7B', gpu: 'rtx4090', precision: 'NF4' };

/** What the controls called `keys` say, as arguments of an operation. */
export function argsFor(op: string, keys: string[]): Args {
  const properties = operation(op).parameters.properties;
  const state = get();
  const args: Args = {};
  for (const key of keys) {
    const row = properties[key];
    const text = state[key] ?? (key === 'model' && state.params_b ? undefined : DEFAULTS[key]);
    if (!row || text === undefined || text === '') continue;
    args[key] = typed(row, text);
  }
  return spoken(op, args);
}

/** With the page's language where the operation speaks one. */
export function spoken(op: string, args: Args): Args {
  const speaks = language() === 'zh' && 'lang' in operation(op).parameters.properties;
  return speaks ? { ...args, lang: 'zh' } : args;
}

function typed(row: Row, text: string): unknown {
  if (row.type === 'boolean') return text === '1' || text === 'true' ? true : text === '0' ? false : text;
  if (row.type === 'number' || row.type === 'integer') {
    const v = Number(text);
    return text.trim() !== '' && Number.isFinite(v) ? v : text;
  }
  return text;
}

const help = (row: Row): string | undefined => (language() === 'en' ? row.description : undefined);

function labelled(key: string, row: Row | undefined, control: HTMLElement, extra?: Node): HTMLElement {
  const id = `c-${key}`;
  control.id = id;
  const u = row?.['x-unit'];
  return h('div', { class: `field f-${key}`, title: row && help(row) },
    h('label', { for: id }, tr('p.', key), u && u !== 'sequences' && u !== key ? h('span', { class: 'unit' }, ' ', tr('u.', u)) : null),
    control, extra);
}

function select(key: string, options: [string, string][], value: string): HTMLSelectElement {
  const element = h('select', { onchange: () => set({ [key]: element.value }, true) });
  for (const [v, label] of options) element.append(h('option', { value: v }, label));
  if (value && !options.some(([v]) => v.toLowerCase() === value.toLowerCase())) element.append(h('option', { value }, value)); // what a link says, good or bad
  element.value = options.find(([v]) => v.toLowerCase() === value.toLowerCase())?.[0] ?? value;
  return element;
}

function cardSelect(value: string): HTMLSelectElement {
  const element = h('select', { onchange: () => set({ gpu: element.value, arch: '' }, true) });
  const groups = new Map<string, HTMLOptGroupElement>();
  const measured = allCards().filter((c) => c.pairs > 0).sort((a, b) => b.pairs - a.pairs);
  const first = h('optgroup', { label: t('b.measured') });
  for (const c of measured) first.append(h('option', { value: c.name }, `${c.gpu} (${c.pairs} ${t('pairs')})`));
  element.append(first);
  for (const c of allCards().filter((k) => k.pairs === 0)) {
    if (!groups.has(c.arch)) {
      groups.set(c.arch, h('optgroup', { label: c.arch }));
      element.append(groups.get(c.arch)!);
    }
    groups.get(c.arch)!.append(h('option', { value: c.name }, c.gpu));
  }
  const known = allCards().find((c) => c.name === value.toLowerCase() || c.gpu.toLowerCase() === value.toLowerCase());
  if (!known && value) element.append(h('option', { value }, value));
  element.value = known?.name ?? value;
  return element;
}

function suggest(key: string, list: string[], value: string, standard: unknown): HTMLElement[] {
  const id = `list-${key}`;
  const input = h('input', {
    type: 'text', list: id, value, placeholder: standard === undefined || standard === null ? '' : String(standard), autocomplete: 'off', spellcheck: 'false',
    onchange: () => set(key === 'model' ? { model: input.value, params_b: '' } : { [key]: input.value }, true),
  });
  return [input, h('datalist', { id }, list.map((v) => h('option', { value: v })))];
}

/** One control by its parameter. */
export function field(op: string, key: string): HTMLElement {
  const operationRow = operation(op);
  const row = operationRow.parameters.properties[key]!;
  const list = operationRow.lists[key];
  const value = get()[key] ?? DEFAULTS[key] ?? '';
  if (key === 'gpu') return labelled(key, row, cardSelect(value));
  if (list === '@precision') return labelled(key, row, select(key, schema().lists[list]!.map((v) => [v, v]), value));
  if (list) {
    const [input, data] = suggest(key, schema().lists[list]!, key === 'model' && get().params_b ? '' : value, row.default);
    return labelled(key, row, input!, data);
  }
  if (row.enum) {
    const standard = String(row.default ?? '');
    const options: [string, string][] = row.enum.map((v) => [v, tr('o.', v)]);
    return labelled(key, row, select(key, standard ? options : [['', t('usual')], ...options], value || standard));
  }
  if (row.type === 'boolean') {
    const box = h('input', { type: 'checkbox', id: `c-${key}`, checked: value === '1', onchange: () => set({ [key]: box.checked ? '1' : '' }, true) });
    return h('div', { class: 'field check', title: help(row) }, box, h('label', { for: `c-${key}` }, tr('p.', key)));
  }
  const input = h('input', {
    type: 'number', value, step: 'any', inputmode: 'decimal',
    min: row.minimum ?? row.exclusiveMinimum, max: row.maximum,
    placeholder: row.default === undefined || row.default === null ? '' : String(row.default),
    onchange: () => set({ [key]: input.value }, true),
  });
  return labelled(key, row, input);
}

// What the engine takes where the reader said nothing, so that no slider contradicts the answer.
interface Taken {
  params_b: number;
  params_total_b: number | null;
  ctx: number;
}
const takenFor = new Map<string, Taken | null>();
function taken(): Taken | null {
  const args = { ...argsFor('estimate', ['model', 'params_b', 'prompt_tokens', 'gen_tokens']), gpu: DEFAULTS.gpu, precision: DEFAULTS.precision };
  const key = JSON.stringify(args);
  if (!takenFor.has(key)) {
    const reply = ask<{ input: Taken }>('estimate', args);
    takenFor.set(key, 'result' in reply ? reply.result.input : null);
  }
  return takenFor.get(key)!;
}
function standing(key: string): number | undefined {
  if (key === 'ctx') return taken()?.ctx;
  const size = key === 'params_b' ? taken() : null;
  return size ? Number((size.params_total_b ?? size.params_b).toPrecision(3)) : undefined;
}

/** A slider on a logarithmic scale with its number beside it. */
export function slider(op: string, key: string, lo: number, hi: number, whole: boolean, initial: number): HTMLElement {
  const row = operation(op).parameters.properties[key]!;
  const steps = whole ? Math.round(Math.log2(hi / lo)) : 400;
  const place = (v: number): number => Math.round((steps * Math.log(v / lo)) / Math.log(hi / lo));
  const at = (i: number): number => {
    const v = lo * (hi / lo) ** (i / steps);
    return whole ? Math.round(v) : Number(v.toPrecision(v < 10 ? 2 : 3));
  };
  const now = Number(get()[key] ?? standing(key) ?? initial);
  const value = Number.isFinite(now) && now > 0 ? now : initial;
  const show = (v: number): string => (key === 'params_b' ? `${v}B` : String(v));
  const out = h('output', {}, show(value));
  const change = (push: boolean): void => {
    const v = at(Number(range.value));
    out.textContent = show(v);
    set(key === 'params_b' ? { params_b: String(v), model: '' } : { [key]: String(v) }, push);
  };
  const range = h('input', {
    type: 'range', min: 0, max: steps, step: 1, value: Math.min(steps, Math.max(0, place(value))), 'aria-valuetext': show(value),
    oninput: () => {
      change(false);
      range.setAttribute('aria-valuetext', out.textContent!);
    },
    onchange: () => change(true),
  });
  const field = labelled(key, row, range);
  field.classList.add('slide');
  field.querySelector('label')!.append(out);
  return field;
}

export function group(title: string, open: boolean, ...fields: HTMLElement[]): HTMLElement {
  const details = h('details', { class: 'group', open }, h('summary', null, title));
  append(details, fields);
  return details;
}

/** Controls on one side, the answer on the other. Controls are made anew when the address changes
 * under them, but never under a hand that moves a slider. */
export class Sheet {
  readonly answer = h('div', { class: 'answer' });
  private readonly controls = h('form', { class: 'controls', onsubmit: (e: Event) => e.preventDefault() });
  private shape = '';

  constructor(
    private readonly keys: string[],
    private readonly build: () => HTMLElement[],
    private readonly above: () => HTMLElement[] = () => [],
  ) {}

  mount(panel: HTMLElement, state: Record<string, string>): void {
    const shape = JSON.stringify([language(), this.keys.map((k) => state[k])]);
    const active = document.activeElement as HTMLInputElement | null;
    const sliding = active?.type === 'range' && this.controls.contains(active);
    const there = panel.contains(this.controls);
    if (there && sliding) {
      const model = this.controls.querySelector<HTMLInputElement>('#c-model');
      if (model && state.params_b) model.value = '';
    } else if (!there || shape !== this.shape) {
      const open = [...this.controls.querySelectorAll('details')].map((d) => d.open);
      this.controls.replaceChildren();
      append(this.controls, this.build());
      // at first a group is open where the link sets one of its controls
      const used = (d: Element): boolean => this.keys.some((k) => state[k] && d.querySelector(`#c-${k}`));
      this.controls.querySelectorAll('details').forEach((d, i) => (d.open = open[i] ?? (d.open || used(d))));
      const above = this.above();
      panel.replaceChildren(...above, h('div', { class: 'split' }, this.controls, this.answer));
      if (active?.id) document.getElementById(active.id)?.focus({ preventScroll: true });
    }
    this.shape = shape;
  }
}
