// Optimize: budgets and an objective; the recommended configuration, alternatives, the front.
import { ask } from '../engine';
import { Chart } from '../chart';
import { h, num, pct, range, unit, usd } from '../dom';
import { t, tr } from '../i18n';
import { argsFor, field, group, Sheet } from '../controls';
import { alerts, facts, failure, fill, list, table, tag, takeaway, type Alert } from '../parts';
import { target } from './model';
import type { State } from '../state';

export const KEYS = ['model', 'params_b', 'gpu', 'objective', 'max_latency_ms', 'max_vram_gb', 'min_throughput', 'max_energy_j_per_1k',
  'max_cost_usd', 'max_quality_loss_pct', 'prompt_tokens', 'gen_tokens', 'engine', 'production', 'requests', 'region', 'price', 'gpu_usd_per_hour'];

interface Config {
  gpu: string;
  precision: string;
  engine: string;
  batch: number;
  context: number;
  energy_j_per_1k_tokens: number | null;
  energy_ci: [number, number] | null;
  delta_pct_vs_fp16: number;
  latency_ms_per_token: number;
  throughput_tok_s: number;
  vram_gb: number;
  month_usd: number | null;
  month_kgco2: number | null;
  quality_loss_pct: number | null;
  quality_basis: string | null;
  energy_basis: string;
  confidence: string;
  vs_recommended: { energy_pct: number | null } | null;
}
interface Optimum {
  verdict: string;
  candidates: number;
  feasible_count: number;
  basis: { energy: string; latency: string; vram: string };
  recommended: Config | null;
  closest_infeasible: Config | null;
  misses: { budget: string; limit: number; best: number; excess_pct: number }[];
  alternatives: Config[];
  why?: string[];
  insights?: string[];
  pitfalls?: Alert[];
  alerts: Alert[];
  notes: string[];
}

const chart = new Chart('ecocompute-pareto');

const rowsOf = (c: Config): State => ({ gpu: c.gpu, precision: c.precision });
function configFacts(c: Config, basis: Optimum['basis']): HTMLElement {
  return facts([
    { name: t('energy'), value: num(c.energy_j_per_1k_tokens), unit: t('energy.unit'), more: range(c.energy_ci), basis: c.energy_basis, evidence: rowsOf(c) },
    { name: t('against'), value: pct(c.delta_pct_vs_fp16), basis: c.energy_basis, evidence: rowsOf(c) },
    { name: t('latency.name'), value: num(c.latency_ms_per_token), unit: 'ms', basis: basis.latency, evidence: rowsOf(c) },
    { name: t('speed'), value: num(c.throughput_tok_s), unit: t('throughput'), basis: basis.latency, evidence: rowsOf(c) },
    { name: t('memory'), value: num(c.vram_gb), unit: 'GB', basis: basis.vram },
    { name: t('quality'), value: c.quality_loss_pct === null ? '–' : unit(c.quality_loss_pct, '%'), more: c.quality_basis ?? '' },
    { name: t('month'), value: usd(c.month_usd), more: c.month_kgco2 === null ? '' : unit(c.month_kgco2, 'kg CO₂'), basis: 'computed', evidence: rowsOf(c) }]);
}

function alternatives(list_: Config[]): HTMLElement | null {
  if (!list_.length) return null;
  return h('section', null, h('h3', null, t('alternatives')),
    table(t('alternatives'), [
      { name: t('p.precision'), cell: (c: Config) => c.precision },
      { name: t('p.gpu'), cell: (c) => c.gpu },
      { name: t('p.batch'), right: true, cell: (c) => num(c.batch) },
      { name: t('energy.unit'), right: true, cell: (c) => num(c.energy_j_per_1k_tokens) },
      { name: t('range95'), right: true, cell: (c) => range(c.energy_ci) },
      { name: t('versus'), right: true, cell: (c) => (c.vs_recommended?.energy_pct === null || !c.vs_recommended ? '' : pct(c.vs_recommended.energy_pct)) },
      { name: t('latency'), right: true, cell: (c) => num(c.latency_ms_per_token) },
      { name: t('throughput'), right: true, cell: (c) => num(c.throughput_tok_s) },
      { name: 'GB', right: true, cell: (c) => num(c.vram_gb) },
      { name: t('quality'), right: true, cell: (c) => (c.quality_loss_pct === null ? '–' : unit(c.quality_loss_pct, '%')) },
      { name: t('basis'), cell: (c) => tag(c.energy_basis, rowsOf(c)) }], list_));
}

const sheet = new Sheet(KEYS, () => [
  ...target('optimize'), field('optimize', 'objective'),
    group(t('budgets'), innerWidth > 860, ...['max_latency_ms', 'max_vram_gb', 'min_throughput', 'max_energy_j_per_1k', 'max_cost_usd', 'max_quality_loss_pct'].map((k) => field('optimize', k))),
    group(t('more'), false, ...['engine', 'prompt_tokens', 'gen_tokens', 'production', 'requests', 'region', 'price', 'gpu_usd_per_hour'].map((k) => field('optimize', k)))]);

export function show(panel: HTMLElement, state: State): void {
  sheet.mount(panel, state);
  const answer = sheet.answer;
  const args = argsFor('optimize', KEYS);
  const reply = ask<Optimum>('optimize', args);
  if ('error' in reply) {
    fill(answer, failure(reply.error));
    return;
  }
  const o = reply.result;
  const c = o.recommended ?? o.closest_infeasible;
  chart.draw('optimize', { args });
  fill(answer,
    h('section', { class: 'headline' },
      h('p', { class: 'eyebrow' }, `${num(o.feasible_count)} / ${num(o.candidates)} ${t('within')}`),
      h('h2', null, o.verdict),
      c ? h('div', { class: 'hero' }, h('div', { class: 'big' }, h('span', { class: 'figure' }, `${c.precision} × ${num(c.batch)}`), h('span', { class: 'what' }, `${t(o.recommended ? 'recommended' : 'nearest')} · ${c.gpu} · ${c.engine}`))) : null),
    o.misses.length ? h('section', null, h('h3', null, t('misses')), table(t('misses'), [
      { name: t('budgets'), cell: (m) => tr('p.', m.budget) },
      { name: t('limit'), right: true, cell: (m) => num(m.limit) },
      { name: t('nearest'), right: true, cell: (m) => num(m.best) },
      { name: t('over'), right: true, cell: (m) => pct(m.excess_pct) }], o.misses)) : null,
    c ? configFacts(c, o.basis) : null,
    chart.element,
    alternatives(o.alternatives),
    list(t('why'), o.why ?? []),
    list(t('insights'), o.insights ?? []),
    alerts(t('pitfalls'), o.pitfalls ?? []),
    alerts(t('alerts'), o.alerts),
    list(t('notes'), o.notes),
    takeaway('optimize', args));
}
