// Data: every row with grade, source and reason; nothing is hidden, excluded rows say why.
import { call } from '../engine';
import { h, num, pct, tenth, unit } from '../dom';
import { t } from '../i18n';
import { button, copier, fill, inside, saveText, table } from '../parts';
import { rows, short, type DataRow } from '../rows';
import { get, link, set, type State } from '../state';

export const KEYS = ['card', 'prec', 'grade', 'table', 'find', 'row'];
const PAGE = 60;
let shown = PAGE;
let last = '';

function filtered(s: State): DataRow[] {
  const words = (s.find ?? '').toLowerCase();
  return rows().filter((r) => (!s.card || r.gpu === s.card) && (!s.prec || r.precision === s.prec) && (!s.grade || r.grade === s.grade) && (!s.table || r.table === s.table) &&
    (!words || `${r.model} ${r.session} ${r.source} ${r.id} ${r.backend}`.toLowerCase().includes(words)));
}

function choose(key: string, values: string[], name: string, s: State): HTMLElement {
  const element = h('select', { id: `d-${key}`, onchange: () => set({ [key]: element.value, row: '' }, true) }, h('option', { value: '' }, t('all')), values.map((v) => h('option', { value: v }, v)));
  if (s[key] && !values.includes(s[key])) element.append(h('option', { value: s[key] }, s[key])); // what a link says, good or bad
  element.value = s[key] ?? '';
  return h('div', { class: 'field' }, h('label', { for: `d-${key}` }, name), element);
}

function detail(r: DataRow): HTMLElement {
  const base = rows().find((b) => b.id === r.baseline_id);
  const line = (name: string, value: Node | string | null): HTMLElement | null => (value ? h('div', null, h('dt', null, name), h('dd', null, value)) : null);
  const at = [r.energy_basis, r.boundary].filter((w) => w !== 'unknown').join(', ');
  const doi = /^10\.\d+\//.test(r.doi ?? '') ? h('a', { href: `https://doi.org/${r.doi}`, rel: 'noreferrer' }, r.doi) : (r.doi ?? '');
  return h('section', { class: `card ${r.excluded ? 'excluded' : ''}` },
    h('p', { class: 'eyebrow' }, `${t('row')} · ${t('p.grade')} ${r.grade}`),
    h('h2', null, `${short(r.model)} · ${r.precision} · ${r.gpu}`),
    r.reason ? h('p', null, r.reason) : null,
    h('dl', { class: 'lines' },
      line('ID', h('code', null, r.id)),
      line(t('energy'), r.energy_j_per_1k === null ? null : `${num(r.energy_j_per_1k)}${r.energy_sd === null ? '' : ` ± ${num(r.energy_sd)}`} ${t('energy.unit')} ${at && `(${at})`}`),
      line(t('change2'), r.delta_pct === null ? null : pct(r.delta_pct)),
      line(t('fp16'), base ? h('span', null, inside({ row: base.id }, {}, base.id), base.energy_j_per_1k === null ? '' : `: ${unit(base.energy_j_per_1k, t('energy.unit'))}`) : null),
      line(t('speed'), r.throughput_tok_s === null ? null : unit(r.throughput_tok_s, t('throughput'))),
      line(t('power'), r.power_w === null ? null : unit(r.power_w, 'W')),
      line(t('trials'), r.n_trials === null ? null : num(r.n_trials)),
      line(t('p.batch'), num(r.batch)),
      line(t('p.engine'), r.backend),
      line(t('session'), r.session),
      line(t('stack'), r.stack),
      line(t('source'), r.source),
      line('DOI', doi),
      line(t('licence'), r.licence)),
    h('div', { class: 'buttons' }, copier(t('copy.json'), () => JSON.stringify(r, null, 2)), copier(t('copy.link'), () => new URL(link(get()), location.href).href),
      button(t('all.rows'), () => set({ row: '' }, true))));
}

export function show(panel: HTMLElement, s: State): void {
  const state = { ...s };
  const shape = JSON.stringify(KEYS.map((k) => state[k]));
  if (shape !== last) shown = PAGE;
  last = shape;
  const list = filtered(state);
  const one = state.row ? rows().find((r) => r.id === state.row) : undefined;
  const unique = (pick: (r: DataRow) => string): string[] => [...new Set(rows().map(pick))].sort();
  const focus = document.activeElement?.id;
  const find = h('input', { type: 'search', id: 'd-find', value: state.find ?? '', oninput: () => set({ find: find.value, row: '' }, false) });
  const excluded = list.filter((r) => r.excluded).length;
  fill(panel,
    state.row && !one ? h('div', { class: 'failure', role: 'alert' }, h('p', null, `${t('bad link')}: ${state.row.slice(0, 120)}`)) : null,
    one ? detail(one) : null,
    h('div', { class: 'filters' },
      choose('card', unique((r) => r.gpu), t('p.gpu'), state), choose('prec', unique((r) => r.precision), t('p.precision'), state),
      choose('grade', ['A', 'B', 'C', 'D'], t('p.grade'), state), choose('table', unique((r) => r.table), t('p.table'), state),
      h('div', { class: 'field wide' }, h('label', { for: 'd-find' }, t('search')), find)),
    h('p', { class: 'count', role: 'status' }, `${num(list.length)} ${t('rows')}${excluded ? `, ${num(excluded)} ${t('of.d')}` : ''}`),
    h('p', { class: 'quiet grades' }, t('grades')),
    h('details', { class: 'note' }, h('summary', null, t('why.d')), h('p', null, t('why.d.text'))),
    list.length ? table(t('tab.data'), [
      { name: t('p.grade'), cell: (r: DataRow) => h('span', { class: `grade g${r.grade}` }, r.grade) },
      { name: t('p.model'), cell: (r) => inside({ row: r.id }, {}, short(r.model)) },
      { name: t('p.precision'), cell: (r) => r.precision },
      { name: t('p.gpu'), cell: (r) => r.gpu },
      { name: t('p.batch'), right: true, cell: (r) => num(r.batch) },
      { name: t('energy.unit'), right: true, cell: (r) => (r.energy_j_per_1k === null ? '–' : num(Number(r.energy_j_per_1k.toPrecision(4)))) },
      { name: t('change2'), right: true, cell: (r) => (r.delta_pct === null ? '' : tenth(r.delta_pct)) },
      { name: 'n', right: true, cell: (r) => num(r.n_trials) },
      { name: t('source'), cell: (r) => h('span', { class: 'quiet clip' }, r.source) }], list.slice(0, shown), (r) => (r.id === state.row ? 'here' : r.excluded ? 'excluded' : undefined)) : h('p', null, t('no rows')),
    h('div', { class: 'buttons' },
      list.length > shown ? button(t('more rows'), () => { shown += 200; show(panel, get()); }) : null,
      button(t('save.csv'), () => saveText('ecocompute-data.csv', call('data', { action: 'list', ...(state.card ? { gpu: state.card } : {}), ...(state.prec ? { precision: state.prec } : {}), ...(state.grade ? { grade: state.grade } : {}) }, 'csv').text, 'text/csv')),
      copier(t('copy.link'), () => new URL(link(get()), location.href).href)));
  if (focus) {
    const again = document.getElementById(focus);
    again?.focus({ preventScroll: true });
    if (again instanceof HTMLInputElement && again.type === 'search') again.setSelectionRange(again.value.length, again.value.length);
  }
}
