// Diagnose: what is seen (speed, power, energy) against what the configuration gives, and what to change.
import { ask } from '../engine';
import { chance, h, num, pct, range } from '../dom';
import { t, tr } from '../i18n';
import { argsFor, field, group, Sheet, slider } from '../controls';
import { alerts, button, facts, failure, fill, inside, list, rowsBehind, table, tag, takeaway, type Alert, type Fact } from '../parts';
import { short } from '../rows';
import { target } from './model';
import { set, type State } from '../state';

export const SEEN = ['throughput', 'power_w', 'energy_j_per_1k'];
const TRAPS = ['production', 'eager', 'nightly', 'no_kv_cache'];
export const KEYS = ['model', 'params_b', 'gpu', 'precision', 'batch', 'ctx', 'prompt_tokens', 'gen_tokens', 'engine', ...SEEN, ...TRAPS];
const EXAMPLE: State = { model: 'Mistral-7B-v0.1', params_b: '', gpu: 'rtx4090d', precision: 'INT8-MIXED', batch: '', throughput: '9.5', power_w: '140' };

interface Pattern {
  cause: string;
  probability: number;
  expect_tokens_per_s: number | null;
  expect_j_per_1k: number | null;
  text: string;
}
interface Fix {
  id: string;
  text: string;
  code: string | null;
  energy_pct: number | null;
  speed_pct: number | null;
}
interface Row {
  row: string;
  gpu: string;
  model: string;
  precision: string;
  batch: number;
  tokens_per_s: number | null;
  power_w: number | null;
  j_per_1k: number | null;
  n: number;
  grade: string;
}
interface Diagnosis {
  verdict: string;
  pattern: string;
  confidence: string;
  likelihood: number;
  root_cause: string;
  input: { gpu: string; precision: string; batch: number; engine: string };
  tokens_per_s: number | null;
  power_w: number | null;
  j_per_1k: number | null;
  expect_tokens_per_s: number | null;
  expect_tokens_per_s_ci: [number, number] | null;
  expect_j_per_1k: number | null;
  expect_j_per_1k_ci: [number, number] | null;
  expect_power_w: number | null;
  expect_basis: string | null;
  decide: string | null;
  speed_dev_pct: number | null;
  power_dev_pct: number | null;
  energy_dev_pct: number | null;
  evidence: Row[];
  secondary: string[];
  patterns: Pattern[];
  fixes: Fix[];
  verify: string[];
  alerts: Alert[];
  notes: string[];
  transparency: { basis: string | null; limits: string[] };
}

const sheet = new Sheet(KEYS, () => [
  ...target('diagnose'), field('diagnose', 'precision'), slider('diagnose', 'batch', 1, 256, true, 1),
  group(t('seen'), true, ...SEEN.map((k) => field('diagnose', k))),
  group(t('more'), false, ...['engine', 'ctx', 'prompt_tokens', 'gen_tokens', ...TRAPS].map((k) => field('diagnose', k)))]);

// Seen beside expected, with the range that sessions like this have.
function against(d: Diagnosis): HTMLElement {
  const rows = { gpu: d.input.gpu ?? '', precision: d.input.precision };
  const one = (name: string, unit: string, seen: number | null, expected: number | null, ci: [number, number] | null, off: number | null): Fact | null =>
    expected === null && seen === null ? null : {
      name, value: num(seen ?? expected), unit, basis: seen === null ? (d.expect_basis ?? d.transparency.basis) : undefined, evidence: rows,
      more: seen === null ? `${t('expected')} ${range(ci)}` : `${t('expected')} ${num(expected)}${ci ? ` (${range(ci)})` : ''}${off === null ? '' : ` · ${pct(off)}`}`,
      tone: seen === null ? 'quiet' : '',
    };
  return facts([
    one(t('speed'), t('throughput'), d.tokens_per_s, d.expect_tokens_per_s, d.expect_tokens_per_s_ci, d.speed_dev_pct),
    one(t('power'), 'W', d.power_w, d.expect_power_w, null, d.power_dev_pct),
    one(t('energy'), t('energy.unit'), d.j_per_1k, d.expect_j_per_1k, d.expect_j_per_1k_ci, d.energy_dev_pct)].filter((f) => f !== null));
}

function fixes(d: Diagnosis): HTMLElement | null {
  if (!d.fixes.length) return null;
  return h('section', null, h('h3', null, t('fixes')), h('ol', { class: 'fixes' }, d.fixes.map((f) => h('li', null,
    h('p', null, h('strong', null, f.text), h('span', { class: 'effect' },
      [f.energy_pct === null ? '' : `${t('energy')} ${pct(f.energy_pct)}`, f.speed_pct === null ? '' : `${t('speed')} ${pct(f.speed_pct)}`].filter(Boolean).join(' · '))),
    f.code ? h('code', null, f.code) : null))));
}

export function show(panel: HTMLElement, state: State): void {
  sheet.mount(panel, state);
  const answer = sheet.answer;
  const args = argsFor('diagnose', KEYS);
  if (!SEEN.some((k) => k in args)) {
    fill(answer, h('section', { class: 'headline' }, h('h2', null, t('seen.none')), h('p', { class: 'quiet' }, t('seen.sub')),
      h('div', { class: 'buttons' }, button(t('example'), () => set(EXAMPLE, true)))));
    return;
  }
  const reply = ask<Diagnosis>('diagnose', args);
  if ('error' in reply) {
    fill(answer, failure(reply.error));
    return;
  }
  const d = reply.result;
  const rows = { gpu: d.input.gpu ?? '', precision: d.input.precision };
  fill(answer,
    h('section', { class: 'headline' },
      h('p', { class: 'eyebrow' }, `${d.input.precision} · ${d.input.gpu ?? ''} · ${t('p.batch').toLowerCase()} ${num(d.input.batch)} · ${d.input.engine ?? ''}`),
      h('h2', null, d.root_cause),
      h('div', { class: 'hero' },
        h('div', { class: 'big' }, h('span', { class: 'figure' }, chance(d.likelihood)), h('span', { class: 'what' }, `${t('likelihood')} · `, h('code', null, d.pattern), ' ', tag(d.transparency.basis, rows))))),
    against(d),
    d.decide ? h('p', { class: 'warn' }, d.decide) : null,
    fixes(d),
    d.patterns.length ? h('section', null, h('h3', null, t('patterns')), table(t('patterns'), [
      { name: t('likelihood'), right: true, cell: (p: Pattern) => chance(p.probability) },
      { name: t('patterns'), cell: (p) => h('span', { class: 'reads' }, p.text) },
      { name: t('throughput'), right: true, cell: (p) => num(p.expect_tokens_per_s) },
      { name: t('energy.unit'), right: true, cell: (p) => num(p.expect_j_per_1k) }], d.patterns, (p) => (p.cause === d.pattern ? 'here' : undefined))) : null,
    list(t('also'), d.secondary),
    list(t('verify'), d.verify),
    alerts(t('alerts'), d.alerts),
    d.evidence.length ? h('section', null, h('h3', null, t('evidence')), table(t('evidence'), [
      { name: t('p.model'), cell: (r: Row) => inside(rowsBehind({ row: r.row }), {}, short(r.model)) },
      { name: t('p.gpu'), cell: (r) => r.gpu },
      { name: t('p.precision'), cell: (r) => r.precision },
      { name: t('p.batch'), right: true, cell: (r) => num(r.batch) },
      { name: t('throughput'), right: true, cell: (r) => num(r.tokens_per_s) },
      { name: 'W', right: true, cell: (r) => num(r.power_w) },
      { name: t('energy.unit'), right: true, cell: (r) => num(r.j_per_1k) },
      { name: 'n', right: true, cell: (r) => num(r.n) },
      { name: t('p.grade'), cell: (r) => tr('', r.grade) }], d.evidence)) : null,
    list(t('notes'), [...d.notes, ...d.transparency.limits]),
    takeaway('diagnose', args));
}
