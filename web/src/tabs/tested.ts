// Tested models: measurements alone. Bars of energy, the measured crossover, a brief to decide by.
import { ask } from '../engine';
import { Chart } from '../chart';
import { h, num, pct, sizes } from '../dom';
import { t } from '../i18n';
import { copier, inside, rowsBehind, table, tag, fill } from '../parts';
import { better, rows, short, type DataRow } from '../rows';
import { set, type State } from '../state';
import { crossing, type Estimate } from './model';

const PRECISIONS = ['NF4', 'INT8-MIXED', 'INT8-PURE', 'FP8', 'GGUF-Q4_K_M', 'GPTQ-INT4', 'AWQ-INT4'];
const SIZES = [1.1, 3, 7, 14];
const BARS_MAX = 36;
const bars = new Chart('ecocompute-energy');
const measured = new Chart('ecocompute-measured');

const usable = (r: DataRow): boolean => r.batch === 1 && r.n_devices <= 1 && r.delta_gross_pct !== null && r.params_b !== null && r.boundary === 'gpu-board';

function label(r: DataRow): string {
  return `${r.gpu}, ${short(r.model)}: ${pct(r.delta_gross_pct)} · n = ${r.n_trials ?? 1} · ${t('b.measured')} · ${t('p.grade')} ${r.grade} · ${r.session}`;
}
const mark = (r: DataRow): object => ({ params_b: r.params_b, delta_pct: r.delta_gross_pct, n: r.n_trials ?? 1, label: label(r) });

// One line a card through the best row of each size; every other row is a loose point.
function series(card: string, precision: string, withD: boolean): { list: object[]; cards: string[] } {
  const mine = rows().filter((r) => r.precision === precision && usable(r) && (withD || !r.excluded));
  const cards = [...new Set(mine.map((r) => r.gpu))];
  const list: object[] = [];
  for (const gpu of cards) {
    const best = new Map<number, DataRow>();
    const rest: DataRow[] = [];
    for (const r of mine.filter((k) => k.gpu === gpu).sort(better)) {
      if (best.has(r.params_b!) || r.excluded) rest.push(r);
      else best.set(r.params_b!, r);
    }
    const bySize = (a: DataRow, b: DataRow): number => a.params_b! - b.params_b!;
    list.push({ label: gpu, highlight: gpu === card, marks: [...best.values()].sort(bySize).map(mark) });
    if (rest.length) list.push({ highlight: gpu === card, loose: true, marks: rest.sort(bySize).map(mark) });
  }
  return { list, cards };
}

// Of several rows of one precision in a session, the better kept one.
const once = (list: DataRow[]): DataRow[] => {
  const kept = new Map<string, DataRow>();
  for (const r of [...list].sort(better)) if (!kept.has(r.precision)) kept.set(r.precision, r);
  return [...kept.values()];
};

// For each model the session that measured most precisions, so that bars compare within one session.
function energyBars(card: string): object[] {
  const mine = rows().filter((r) => r.gpu === card && r.batch === 1 && !r.excluded && r.energy_gross_j_per_1k !== null && r.params_b !== null);
  const sessions = new Map<string, Map<string, DataRow[]>>();
  for (const r of mine) {
    const model = sessions.get(r.model) ?? new Map<string, DataRow[]>();
    sessions.set(r.model, model.set(r.session, [...(model.get(r.session) ?? []), r]));
  }
  const chosen = [...sessions.values()]
    .map((m) => [...m.values()].map(once).sort((a, b) => b.length - a.length || better(a[0]!, b[0]!))[0]!)
    .filter((list) => list.some((r) => r.delta_gross_pct !== null))
    .sort((a, b) => a[0]!.params_b! - b[0]!.params_b!);
  const bare = (r: DataRow): string => short(r.model).replace(/-(Instruct|Chat|it)\b(-v[\d.]+)?/, '');
  const names = chosen.map((l) => bare(l[0]!));
  const bar = (r: DataRow): object => ({
    label: `${names.indexOf(bare(r)) === names.lastIndexOf(bare(r)) ? bare(r) : short(r.model)} ${r.precision}`, value: r.energy_gross_j_per_1k, measured: true, highlight: (r.delta_gross_pct ?? 0) < 0, detail: `n = ${r.n_trials ?? 1} · ${t('p.grade')} ${r.grade} · ${r.session}`,
  });
  return chosen.flatMap((list) => list.sort((a, b) => Number(a.delta_gross_pct !== null) - Number(b.delta_gross_pct !== null) || a.precision.localeCompare(b.precision)).map(bar)).slice(0, BARS_MAX);
}

interface Line {
  gpu: string;
  crossover: string;
  ci: string;
  at: Estimate[];
}
function brief(cards: string[], precision: string): { lines: Line[]; element: HTMLElement } {
  const lines: Line[] = [];
  for (const gpu of cards) {
    const at: Estimate[] = [];
    for (const params_b of SIZES) {
      const reply = ask<Estimate>('estimate', { params_b, gpu, precision });
      if ('result' in reply) at.push(reply.result);
    }
    if (at.length === SIZES.length) {
      lines.push({ gpu, at, crossover: crossing(at[0]!), ci: sizes(at[0]!.crossover_ci) });
    }
  }
  const element = table(t('brief'), [
    { name: t('p.gpu'), cell: (l: Line) => inside({ tab: 'model', gpu: l.gpu, precision }, {}, l.gpu) },
    { name: t('crossover'), right: true, cell: (l) => h('span', { class: 'pair' }, l.crossover, ' ', h('small', { class: 'quiet' }, l.ci)) },
    ...SIZES.map((size, i) => ({ name: `${size}B`, right: true, cell: (l: Line) => h('span', { class: 'pair' }, pct(l.at[i]!.delta_pct), ' ', tag(l.at[i]!.basis, { gpu: l.gpu, precision })) }))], lines);
  return { lines, element };
}

function briefMarkdown(lines: Line[], precision: string): string {
  const head = `| ${precision} | saves | 95 % range | ${SIZES.map((s) => `${s}B`).join(' | ')} |\n|---|--:|--:|${SIZES.map(() => '--:|').join('')}\n`;
  return head + lines.map((l) => `| ${l.gpu} | ${l.crossover} | ${l.ci} | ${l.at.map((e) => `${pct(e.delta_pct)} (${e.basis})`).join(' | ')} |\n`).join('');
}

export function show(panel: HTMLElement, state: State): void {
  const cardsWithPairs = [...new Set(rows().filter((r) => usable(r) && !r.excluded && PRECISIONS.includes(r.precision)).map((r) => r.gpu))];
  const count = (g: string): number => rows().filter((r) => r.gpu === g && r.table === 'measurements' && usable(r) && !r.excluded).length;
  cardsWithPairs.sort((a, b) => count(b) - count(a));
  const card = state.card && cardsWithPairs.includes(state.card) ? state.card : cardsWithPairs[0]!;
  const precision = PRECISIONS.includes(state.prec ?? '') ? state.prec! : 'NF4';
  const withD = state.excluded === '1';
  const { list, cards: inOrder } = series(card, precision, withD);
  const cards = [...inOrder].sort((a, b) => Number(b === card) - Number(a === card));
  const source = `${list.length ? num(rows().filter((r) => r.precision === precision && usable(r) && (withD || !r.excluded)).length) : 0} ${t('rows')} · ${t('board')} · ecocompute data list --precision ${precision}`;
  if (list.length) measured.draw('measured', { title: `${t('measured.title')}: ${precision}`, subtitle: t('measured.sub'), source, series: list });
  else measured.fail({ code: '', message: t('no rows'), param: null });
  const energy = energyBars(card);
  if (energy.length) bars.draw('bars', { title: `${t('bars.title')}: ${card}`, subtitle: t('bars.sub'), unit: 'kJ', source: `ecocompute data list --gpu '${card}'`, bars: energy });
  else bars.fail({ code: '', message: t('no rows'), param: null });
  const decided = brief(cards, precision);
  const focus = document.activeElement?.id;
  const choose = (key: string, values: string[], value: string, name: string): HTMLElement => {
    const element = h('select', { id: `c-${key}`, onchange: () => set({ [key]: element.value }, true) }, values.map((v) => h('option', { value: v }, v)));
    element.value = value;
    return h('div', { class: 'field' }, h('label', { for: `c-${key}` }, name), element);
  };
  const box = h('input', { type: 'checkbox', id: 'c-excluded', checked: withD, onchange: () => set({ excluded: box.checked ? '1' : '' }, true) });
  fill(panel,
    h('section', { class: 'headline' }, h('h2', null, t('brief')), h('p', { class: 'quiet' }, t('brief.sub'))),
    h('div', { class: 'filters' }, choose('card', cardsWithPairs, card, t('p.gpu')), choose('prec', PRECISIONS, precision, t('p.precision')),
      h('div', { class: 'field check' }, box, h('label', { for: 'c-excluded' }, t('show.d')))),
    decided.element,
    h('div', { class: 'buttons' }, copier(t('copy.md'), () => briefMarkdown(decided.lines, precision))),
    measured.element,
    bars.element,
    h('p', null, inside(rowsBehind({ gpu: card }), {}, `${t('tab.data')}: ${card}`)));
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}
