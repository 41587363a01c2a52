// Cost: what the month costs today, and what it could cost.
import { ask } from '../engine';
import { Chart } from '../chart';
import { h, num, pct, range, unit, usd } from '../dom';
import { t, tr } from '../i18n';
import { argsFor, field, group, Sheet, slider } from '../controls';
import { alerts, facts, failure, fill, list, table, takeaway, type Alert } from '../parts';
import { target } from './model';
import type { State } from '../state';

export const KEYS = ['model', 'params_b', 'gpu', 'precision', 'batch', 'ctx', 'prompt_tokens', 'gen_tokens', 'engine', 'requests', 'region', 'price',
  'carbon_intensity', 'pue', 'host_overhead_w', 'gpu_usd_per_hour'];

interface Option {
  label: string;
  precision: string;
  batch: number;
  j_per_1k: number;
  month_kwh: number;
  month_usd: number | null;
  month_kgco2: number;
  year_usd: number | null;
  rental_usd: number | null;
}
interface Cost {
  verdict: string;
  input: { gpu: string; precision: string };
  options: Option[];
  saving_usd: number | null;
  saving_pct: number | null;
  changes: string[];
  bill: {
    month: { kwh: number; usd: number | null; kgco2: number; rental_usd: number | null };
    year: { kwh: number; usd: number | null; kgco2: number };
    month_usd_ci: [number, number] | null;
    j_per_request: number;
    requests: number;
    region: string;
    price_usd_per_kwh: number | null;
    price_source: string | null;
    carbon_gco2_per_kwh: number;
    carbon_source: string | null;
    pue: number;
    equivalents: string[];
    assumptions: string[];
  };
  alerts: Alert[];
  notes: string[];
}

const chart = new Chart('ecocompute-cost');

const sheet = new Sheet(KEYS, () => [
  ...target('cost'), field('cost', 'precision'), slider('cost', 'batch', 1, 256, true, 1), field('cost', 'requests'), field('cost', 'region'),
    group(t('volume'), false, ...['price', 'carbon_intensity', 'pue', 'host_overhead_w', 'gpu_usd_per_hour'].map((k) => field('cost', k))),
    group(t('more'), false, ...['ctx', 'prompt_tokens', 'gen_tokens', 'engine'].map((k) => field('cost', k)))]);

// Where a tariff is from: the data set's own table, what the reader gave, or a sentence as it is.
const origin = (source: string | null): string => (!source ? '' : source === 'given' ? t('given') : /^\S+$/.test(source) ? t('tariffs') : source);
const beside = (...parts: string[]): string => parts.filter(Boolean).join(' · ');

function bars(c: Cost): object {
  const priced = c.options.every((o) => o.month_usd !== null); // else there is no tariff for the region
  const cents = (v: number): number => (v < 1 ? v : Math.round(v * 100) / 100);
  const value = (o: Option): number => (priced ? cents(o.month_usd!) : o.month_kwh);
  return {
    title: t('options'), subtitle: c.verdict, unit: t(priced ? 'usd.month' : 'kwh.month'), source: c.bill.assumptions[0],
    bars: c.options.map((o) => ({ label: `${tr('c.', o.label)}: ${o.precision} × ${o.batch}`, value: value(o), highlight: o === c.options.reduce((a, b) => (value(b) < value(a) ? b : a)), measured: false })),
  };
}

export function show(panel: HTMLElement, state: State): void {
  sheet.mount(panel, state);
  const answer = sheet.answer;
  const args = argsFor('cost', KEYS);
  const reply = ask<Cost>('cost', args);
  if ('error' in reply) {
    fill(answer, failure(reply.error));
    return;
  }
  const c = reply.result;
  const b = c.bill;
  const rows = { gpu: c.input.gpu ?? '', precision: c.input.precision };
  chart.draw('bars', bars(c));
  fill(answer,
    h('section', { class: 'headline' },
      h('p', { class: 'eyebrow' }, `${c.input.precision} · ${c.input.gpu ?? ''} · ${num(b.requests)} ${t('requests')} · ${b.region}`),
      h('h2', null, c.verdict),
      h('div', { class: 'hero' },
        h('div', { class: 'big' }, h('span', { class: 'figure' }, b.month.usd === null ? unit(b.month.kwh, 'kWh') : usd(b.month.usd)), h('span', { class: 'what' }, b.month.usd === null ? t('kwh') : beside(t('month'), range(b.month_usd_ci, usd)))),
        c.saving_pct !== null && c.saving_pct > 0 ? h('div', { class: 'big good' }, h('span', { class: 'figure' }, pct(-c.saving_pct)), h('span', { class: 'what' }, t('possible'))) : null)),
    facts([
      { name: t('kwh'), value: num(b.month.kwh), unit: 'kWh', basis: 'computed', evidence: rows },
      { name: t('co2'), value: num(b.month.kgco2), unit: 'kg', more: beside(`${num(b.carbon_gco2_per_kwh)} g/kWh`, origin(b.carbon_source)), basis: 'computed', evidence: rows },
      { name: t('year'), value: usd(b.year.usd), more: unit(b.year.kwh, 'kWh'), basis: 'computed', evidence: rows },
      { name: t('request'), value: num(b.j_per_request), unit: 'J', basis: 'computed', evidence: rows },
      ...(b.price_usd_per_kwh === null ? [] : [{ name: t('p.price'), value: `$${num(b.price_usd_per_kwh)}`, unit: '/ kWh', more: origin(b.price_source) }]),
      { name: 'PUE', value: num(b.pue) }]),
    chart.element,
    h('section', null, table(t('options'), [
      { name: t('option'), cell: (o: Option) => tr('c.', o.label) },
      { name: t('p.precision'), cell: (o) => o.precision },
      { name: t('p.batch'), right: true, cell: (o) => num(o.batch) },
      { name: t('energy.unit'), right: true, cell: (o) => num(o.j_per_1k) },
      { name: t('month'), right: true, cell: (o) => usd(o.month_usd) },
      { name: t('year'), right: true, cell: (o) => usd(o.year_usd) },
      { name: t('co2'), right: true, cell: (o) => unit(o.month_kgco2, 'kg') }], c.options)),
    list(t('why'), c.changes),
    list(t('equivalents'), b.equivalents),
    list(t('assumptions'), b.assumptions),
    alerts(t('alerts'), c.alerts),
    list(t('notes'), c.notes),
    takeaway('cost', args));
}
