// Your model: a question in words or controls; the answer with its bands, chart and evidence.
import { ask, type Args } from '../engine';
import { Chart } from '../chart';
import { batches, chance, command, h, morph, num, pct, range, sizes, usd } from '../dom';
import { t } from '../i18n';
import { argsFor, field, group, Sheet, slider, spoken } from '../controls';
import { alerts, facts, failure, fill, inside, list, rowsBehind, strip, table, tag, takeaway, type Alert, type Bands, type Fact } from '../parts';
import { short } from '../rows';
import { get, set, type State } from '../state';

export const KEYS = ['model', 'params_b', 'gpu', 'precision', 'batch', 'ctx', 'prompt_tokens', 'gen_tokens', 'engine',
  'production', 'eager', 'nightly', 'no_kv_cache', 'calibration', 'requests', 'region', 'price', 'carbon_intensity', 'pue', 'host_overhead_w', 'gpu_usd_per_hour'];

interface Anchor {
  row: string | null;
  gpu: string;
  model: string | null;
  params_b: number;
  batch: number | null;
  delta_pct: number;
  weight: number | null;
  n: number;
  session: string | null;
}
interface Money {
  kwh: number;
  usd: number;
  kgco2: number;
}
export interface Estimate {
  delta_pct: number;
  ci: [number, number];
  basis: string;
  confidence: string;
  recommendation: string;
  verdict: string;
  reason: string | null;
  crossover_b: number | null;
  crossover_ci: [number, number] | null;
  crossover_saves: 'above' | 'below' | null;
  flip_batch: number | null;
  flip_batch_ci: [number, number] | null;
  p_saves: number | null;
  bands: Bands | null;
  anchors: Anchor[];
  notes: string[];
  alerts: Alert[];
  input: { model: string; params_b: number; params_total_b: number | null; gpu: string | null; arch: string; precision: string; batch: number; ctx: number; engine: string | null };
  energy: { fp16_j_per_1k: number; j_per_1k: number; ci: [number, number]; basis: string; rows: number } | null;
  latency: { tokens_per_s: number; tokens_per_s_ci: [number, number]; tpot_ms: number; basis: string; bound: string } | null;
  memory: { total_gb: number; limit_gb: number | null; fits: boolean; basis: string } | null;
  cost: { month: Money; month_usd_ci: [number, number] | null; region: string; requests: number } | null;
  data: { citation: string };
}
interface Compared {
  precision: string;
  engine: string;
  delta_pct: number;
  delta_ci: [number, number];
  p_saves: number | null;
  energy_j_per_1k: number | null;
  tokens_per_s: number | null;
  vram_gb: number | null;
  fits: boolean;
  basis: string;
  rows: number;
  known: { measured_j_per_1k?: number | null; measured_n?: number | null };
}
interface Asked {
  operation: string;
  params: Record<string, unknown>;
  not_understood: string[];
  command: string;
  conversions: string[];
  problem: string | null;
  verdict: string | null;
}

const chart = new Chart('ecocompute-crossover');
const asked = h('div', { class: 'asked', 'aria-live': 'polite' });
const TAB_OF: Record<string, string> = { estimate: 'model', compare: 'model', diagnose: 'diagnose', optimize: 'optimize', cost: 'cost', audit: 'audit', measure: 'run' };

// What a question says, put into the controls of the tab that answers it.
function apply(reply: Asked, question: string): void {
  const patch: State = { q: question };
  for (const key of KEYS.concat('max_latency_ms', 'max_vram_gb', 'throughput', 'power_w', 'energy_j_per_1k')) {
    const v = reply.params[key === 'precision' ? 'precision_exact' : key];
    if (v !== null && v !== undefined && v !== false && !Array.isArray(v)) patch[key] = v === true ? '1' : String(v);
  }
  if (patch.model) patch.params_b = '';
  else if (patch.params_b) patch.model = '';
  set({ ...patch, tab: TAB_OF[reply.operation] ?? 'model' }, true);
}

export function understood(question: string): HTMLElement {
  const reply = ask<Asked>('ask', { ...spoken('ask', { question }), parse_only: true });
  if ('error' in reply) return failure(reply.error);
  const r = reply.result;
  return h('div', null,
    r.command ? h('p', null, `${t('ask.as')} `, h('code', null, r.command)) : null,
    r.not_understood.length ? h('p', { class: 'quiet' }, `${t('ask.not')}: ${r.not_understood.join('; ')}`) : null,
    r.conversions.map((c) => h('p', { class: 'quiet' }, c)),
    r.problem ? h('p', { class: 'warn' }, r.problem) : null);
}

export function askBox(): HTMLElement {
  const input = h('input', { type: 'search', id: 'ask', name: 'q', value: get().q ?? '', placeholder: t('ask.hint'), autocomplete: 'off', enterkeyhint: 'search' });
  return h('form', {
    class: 'ask', role: 'search',
    onsubmit: (e: Event) => {
      e.preventDefault();
      const reply = ask<Asked>('ask', { question: input.value, parse_only: true });
      if ('result' in reply && reply.result.operation !== 'none') apply(reply.result, input.value);
      else set({ q: input.value }, true);
    },
  }, h('label', { for: 'ask', class: 'unseen' }, t('ask.label')), input, h('button', { type: 'submit', class: 'primary' }, t('ask')));
}

export function target(op: string): HTMLElement[] {
  return [field(op, 'model'), slider(op, 'params_b', 0.1, 405, false, 7), field(op, 'gpu')];
}

const sheet = new Sheet([...KEYS, 'q'], () => [
  ...target('estimate'),
  field('estimate', 'precision'),
  slider('estimate', 'batch', 1, 256, true, 1),
  slider('estimate', 'ctx', 128, 131072, true, 1024),
  group(t('more'), false, field('estimate', 'engine'), field('estimate', 'prompt_tokens'), field('estimate', 'gen_tokens'),
    field('estimate', 'production'), field('estimate', 'eager'), field('estimate', 'nightly'), field('estimate', 'no_kv_cache'), field('estimate', 'calibration')),
  group(t('volume'), false, ...['requests', 'region', 'price', 'carbon_intensity', 'pue', 'host_overhead_w', 'gpu_usd_per_hour'].map((k) => field('estimate', k)))],
() => {
  fill(asked, get().q ? understood(get().q!) : null);
  return [askBox(), asked];
});
const answer = sheet.answer;

function headline(e: Estimate): HTMLElement {
  const tone = e.recommendation === 'quantize' ? 'good' : e.delta_pct > 0 && e.p_saves !== null && e.p_saves < 0.1 ? 'bad' : '';
  const first = e.anchors[0];
  return h('section', { class: 'headline' },
    h('p', { class: 'eyebrow' }, [e.input.precision, e.input.gpu ?? e.input.arch, `${t('p.batch').toLowerCase()} ${num(e.input.batch)}`, e.input.engine].filter(Boolean).join(' · ')),
    h('h2', null, e.verdict),
    h('div', { class: 'hero' },
      h('div', { class: `big ${tone}` }, h('span', { class: 'figure' }, pct(e.delta_pct)), h('span', { class: 'what' }, t('change'), ' ', tag(e.basis, first?.row ? { row: first.row } : {}))),
      e.p_saves !== null ? h('div', { class: 'big' }, h('span', { class: 'figure' }, chance(e.p_saves)), h('span', { class: 'what' }, t('saves'), ' ', tag(e.basis, first?.row ? { row: first.row } : {}))) : null),
    e.bands ? strip(e.bands) : null,
    e.bands ? h('p', { class: 'quiet' }, t('bands')) : null,
    e.reason ? h('p', { class: 'reason' }, e.reason) : null);
}

/** From which size on it saves, or up to which, by the curve: a model's own change may differ from it near the crossover. */
export function crossing(e: Estimate): string {
  return t(e.crossover_saves ?? 'none').replace('#', `${num(e.crossover_b)}B`);
}

// What decides is what a run may fill, a part of the card; without a card there is nothing to fit into.
function room(m: NonNullable<Estimate['memory']>): Fact {
  if (m.limit_gb === null) return { name: t('memory'), value: num(m.total_gb), unit: 'GB', basis: m.basis };
  return { name: t('memory'), value: `${num(m.total_gb)} / ${num(m.limit_gb)}`, unit: 'GB', more: t(m.fits ? 'fits' : 'nofit'), tone: m.fits ? '' : 'bad', basis: m.basis };
}

function figures(e: Estimate): HTMLElement {
  const rows = { gpu: e.input.gpu ?? '', precision: e.input.precision };
  return facts([
    { name: t('crossover'), value: crossing(e), more: sizes(e.crossover_ci), basis: e.basis, evidence: rows },
    ...(e.flip_batch !== null ? [{ name: t('flip'), value: num(e.flip_batch), more: batches(e.flip_batch_ci), basis: 'modelled', evidence: rows }] : []),
    ...(e.energy ? [
      { name: t('energy'), value: num(e.energy.j_per_1k), unit: t('energy.unit'), more: range(e.energy.ci), basis: e.energy.basis, evidence: rows },
      { name: `${t('energy')}, ${t('fp16')}`, value: num(e.energy.fp16_j_per_1k), unit: t('energy.unit'), basis: e.energy.basis, evidence: { gpu: e.input.gpu ?? '', precision: 'FP16' } }] : []),
    ...(e.latency ? [{ name: t('speed'), value: num(e.latency.tokens_per_s), unit: t('throughput'), more: range(e.latency.tokens_per_s_ci), basis: e.latency.basis, evidence: rows }] : []),
    ...(e.memory ? [room(e.memory)] : []),
    ...(e.cost ? [
      { name: t('month'), value: usd(e.cost.month.usd), more: range(e.cost.month_usd_ci, usd), basis: 'computed', evidence: rows },
      { name: t('co2'), value: num(e.cost.month.kgco2), unit: 'kg', more: `${num(e.cost.requests)} ${t('requests')} · ${e.cost.region}`, basis: 'computed', evidence: rows }] : [])]);
}

function evidence(e: Estimate): HTMLElement | null {
  if (!e.anchors.length) return null;
  const most = Math.max(...e.anchors.map((a) => a.weight ?? 0));
  return h('section', { id: 'anchors' }, h('h3', null, t('anchors')), h('p', { class: 'quiet' }, t('anchors.sub')),
    table(t('anchors'), [
      { name: t('weight'), right: true, cell: (a: Anchor) => {
        const bar = h('i', { class: 'bar' });
        bar.style.width = `${(40 * (a.weight ?? 0)) / (most || 1)}px`;
        return h('span', { class: 'weighed' }, h('span', { class: 'room' }, bar), h('span', null, a.weight === null ? '–' : a.weight.toFixed(3)));
      } },
      { name: t('change2'), right: true, cell: (a) => pct(a.delta_pct) },
      { name: t('p.model'), cell: (a) => (a.row ? inside(rowsBehind({ row: a.row }), {}, short(a.model ?? a.row)) : `${num(a.params_b)}B`) },
      { name: t('p.gpu'), cell: (a) => a.gpu },
      { name: t('p.batch'), right: true, cell: (a) => num(a.batch) },
      { name: 'n', right: true, cell: (a) => num(a.n) },
      { name: t('session'), cell: (a) => h('span', { class: 'quiet' }, a.session) }], e.anchors));
}

function precisions(args: Args): HTMLElement | null {
  const { precision: _, calibration: published, ...rest } = args;
  if (published === 'published') return null; // these would be other numbers than those above
  const reply = ask<{ rows: Compared[] }>('compare', rest);
  if ('error' in reply) return null;
  return h('section', null, h('h3', null, t('precisions')),
    table(t('precisions'), [
      { name: t('p.precision'), cell: (r: Compared) => h('span', { class: 'under' }, h('button', { type: 'button', class: 'plain', onclick: () => set({ precision: r.precision }, true) }, r.precision), ' ', h('small', null, r.engine)) },
      { name: t('change2'), right: true, cell: (r) => pct(r.delta_pct) },
      { name: t('range95'), right: true, cell: (r) => (r.p_saves === null ? '' : range(r.delta_ci, pct)) },
      { name: t('saves'), right: true, cell: (r) => chance(r.p_saves) },
      { name: t('energy.unit'), right: true, cell: (r) => h('span', null, num(r.energy_j_per_1k), r.known.measured_j_per_1k ? h('small', null, ` ${t('b.measured')}: ${num(r.known.measured_j_per_1k)} (n = ${r.known.measured_n})`) : '') },
      { name: t('throughput'), right: true, cell: (r) => num(r.tokens_per_s) },
      { name: 'GB', right: true, cell: (r) => h('span', { class: r.fits ? null : 'bad' }, num(r.vram_gb)) },
      { name: t('basis'), cell: (r) => tag(r.basis, { gpu: String(args.gpu ?? ''), precision: r.precision }) }],
    reply.result.rows, (r) => (r.precision === args.precision ? 'here' : undefined)));
}

const above = h('div');
const rest = h('div');
let slow = 0;
function answerNow(): void {
  const args = argsFor('estimate', KEYS);
  const reply = ask<Estimate>('estimate', args);
  if ('error' in reply) {
    fill(answer, failure(reply.error), h('p', null, h('code', null, command('estimate', args))));
    return;
  }
  const e = reply.result;
  chart.draw('estimate', { args });
  const head = h('div', null, headline(e), figures(e));
  if (above.isConnected && answer.contains(above)) morph(above, head);
  else {
    above.replaceChildren(...head.childNodes);
    fill(answer, above, chart.element, rest);
  }
  clearTimeout(slow); // what stands below the fold follows when the hand rests
  slow = window.setTimeout(() => fill(rest, alerts(t('alerts'), e.alerts), precisions(args), evidence(e), list(t('notes'), e.notes.concat(e.data.citation)), takeaway('estimate', args)), 60);
}

export function show(panel: HTMLElement, state: State): void {
  sheet.mount(panel, state);
  answerNow();
}
