// Run it yourself: commands, checking a report as the command line does, overlaying it on the curve,
// its power over time, what others measured, and a fit of own points.
import { ask, call } from '../engine';
import { Chart } from '../chart';
import { h, num, range, tenth } from '../dom';
import { spoken } from '../controls';
import { t, tr } from '../i18n';
import { button, copier, fill, tag } from '../parts';
import { link, set, type State } from '../state';
import * as fit from './fit';
import { gallery, gather, retell } from './gallery';

export const KEYS = ['case', 'overlay', 'report', ...fit.KEYS];
const REPORT_MAX = 1 << 20;
const TRACE_MAX = 16 << 20;
const LINK_MAX = 6000; // longer reports stay out of the address; their share link holds the point

interface Issue {
  pointer: string;
  keyword: string;
  message: string;
}
interface Point {
  N: number;
  dE: number;
  model: string;
  gpu: string;
  arch: string | null;
  precision: string;
  basis: string;
  curve_pct: number | null;
  inside: boolean;
}
interface Reported {
  valid: boolean;
  errors: Issue[];
  advice: Issue[];
  points: Point[];
  link: string | null;
  document: string | null;
}

const chart = new Chart('ecocompute-overlay');
const power = new Chart('ecocompute-power');
const results = h('div', { class: 'answer', 'aria-live': 'polite' });
let pasted = '';
let others: string[] = []; // reports of the same session: their windows
let trace = ''; // the text of its trace.csv
let refused = '';
let asked = false;

const FIRST = ['./quickstart.sh', 'export PATH="$PWD/build:$PATH"'];
const CASES: Record<string, [string, string[]]> = {
  nvidia: ['run.nvidia', [...FIRST, 'ecocompute doctor', "ecocompute measure TinyLlama/TinyLlama-1.1B-Chat-v1.0 --precision FP16,NF4 --workload 'worker:python3 workers/transformers_worker.py' --out ecocompute-out"]],
  server: ['run.server', [...FIRST, 'ecocompute track -- ./your-benchmark.sh']],
  other: ['run.other', [...FIRST, 'ecocompute doctor', 'ecocompute measure synthetic:SmolLM2-135M --precision FP16,Q8_0 --quick --out ecocompute-out']],
  none: ['run.none', [...FIRST, 'ecocompute measure TinyLlama-1.1B-Chat-v1.0 --gpu rtx4090 --out ecocompute-out']],
};

/** What a measurement wrote: energy.json, the reports of its other precisions, trace.csv. */
export async function drop(files: File[]): Promise<void> {
  refused = '';
  const reports: [string, string][] = [];
  for (const file of files) {
    const csv = /\.csv$/i.test(file.name);
    if (file.size > (csv ? TRACE_MAX : REPORT_MAX)) refused = `${file.name}: ${t('run.large')}`;
    else if (csv) trace = await file.text();
    else reports.push([file.name, await file.text()]);
  }
  if (reports.length) {
    reports.sort(([a], [b]) => Number(b === 'energy.json') - Number(a === 'energy.json'));
    pasted = reports[0]![1];
    others = reports.slice(1).map(([, text]) => text);
    if (!files.some((f) => /\.csv$/i.test(f.name))) trace = '';
  }
  set({ tab: 'run', overlay: '', report: '' }, true);
}

// A share link, its query, a bare blob or a report; the engine decides what it is and what is wrong.
const isLink = (text: string): boolean => !text.trimStart().startsWith('{') && (/overlay=/.test(text) || /^https?:/.test(text.trim()));

// What a valid report says of its own change, and a share link does not.
interface Own {
  vs_fp16_ci95_pct?: [number, number] | null;
  vs_fp16_n?: number | null;
}

function overlaid(points: Point[], own: Own | null): HTMLElement {
  const p = points[0]!;
  const spread = own ? (own.vs_fp16_ci95_pct ? ` · ${t('range95')}: ${range(own.vs_fp16_ci95_pct, tenth)}` : '') + (own.vs_fp16_n ? ` · n = ${num(own.vs_fp16_n)}` : '') : ` · ${t('run.said')}:`;
  const where = p.arch ? (p.gpu && p.gpu !== '—' ? { gpu: p.gpu } : { arch: p.arch }) : {};
  const marks = points.map((q) => ({ params_b: q.N, delta_pct: q.dE, n: own?.vs_fp16_n || 1, label: `${q.model}, ${q.gpu}, ${q.precision}: ${tenth(q.dE)}${spread} · ${tr('b.', q.basis)}` }));
  const tries = [where, p.arch ? { arch: p.arch } : null].filter((w) => w !== null);
  let drawn = false;
  for (const w of tries) {
    const args = spoken('estimate', { params_b: p.N, precision: p.precision, ...w });
    if (Object.keys(w).length && call('estimate', args).status === 0) {
      chart.draw('estimate', { args, points: marks, only_points: true });
      drawn = true;
      break;
    }
  }
  if (!drawn) chart.draw('measured', { title: t('run.point'), subtitle: t('change'), source: '', series: [{ label: p.gpu, highlight: true, loose: true, marks: [...marks].sort((a, b) => a.params_b - b.params_b) }] });
  return h('section', null, h('h3', null, t('run.overlay')),
    points.map((q) => h('div', { class: 'hero' },
      h('div', { class: 'big' }, h('span', { class: 'figure' }, tenth(q.dE)), h('span', { class: 'what' }, `${q.model} · ${num(q.N)}B · ${q.gpu} · ${q.precision}${spread} `, tag(q.basis))),
      q.curve_pct !== null ? h('div', { class: 'big' }, h('span', { class: 'figure' }, tenth(q.curve_pct)), h('span', { class: `what ${q.inside ? 'good' : 'warn'}` }, `${t('run.published')}, ${t(q.inside ? 'run.inside' : 'run.outside')}`)) : null)),
    chart.element);
}

function issues(title: string, list: Issue[], kind: string): HTMLElement | null {
  return list.length ? h('section', null, h('h3', null, title), h('ul', { class: kind }, list.map((i) => h('li', null, h('code', null, i.pointer || '/'), ` ${i.message}`)))) : null;
}

interface Phased {
  phases?: { name?: unknown; trial?: unknown; start_s?: unknown; end_s?: unknown; avg_power_watts?: unknown }[];
  workload?: { precision_exact?: unknown };
  idle?: { with_model_watts?: unknown };
  measurement_source?: unknown;
}

// Windows of a report that the engine found valid, on the clock of its trace.csv.
function windows(text: string): object[] {
  const short = (v: unknown): string => num(Number((v as number).toFixed(1)));
  const document = JSON.parse(text) as Phased;
  const precision = String(document.workload?.precision_exact ?? '');
  return (document.phases ?? []).filter((p) => p.name === 'window').map((p) => ({
    start_s: p.start_s, end_s: p.end_s, label: precision,
    detail: [precision, `${t('run.trial')} ${String(p.trial)}`, `${short(p.start_s)} … ${short(p.end_s)} s`,
      ...(typeof p.avg_power_watts === 'number' ? [`${short(p.avg_power_watts)} W`] : []), t('b.measured')].join(' · '),
  }));
}

const valid = (text: string): boolean => 'result' in ask('report', { action: 'validate', document: text });

// Power over time: trace.csv with the windows of the reports shaded.
function traced(main: string | null): HTMLElement | null {
  const reports = main === null ? [] : [main, ...others.filter(valid)];
  const shaded = reports.flatMap(windows);
  if (!trace) return shaded.length ? h('p', { class: 'quiet' }, t('run.notrace')) : null;
  const document = main === null ? {} : (JSON.parse(main) as Phased);
  power.draw('power', { title: t('run.trace'), subtitle: 'trace.csv', source: document.measurement_source, trace, idle_w: document.idle?.with_model_watts, windows: shaded });
  return power.element;
}

function report(text: string): void {
  const checked = ask<Reported>('report', { action: 'validate', document: text });
  const point = ask<Reported>('report', { action: 'overlay', document: text });
  const share = ask<Reported>('report', { action: 'share', document: text });
  const markdown = ask<Reported>('report', { action: 'markdown', document: text });
  const parts: (HTMLElement | null)[] = [];
  if ('error' in checked) parts.push(h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.invalid')), h('p', null, `${checked.error.param ?? ''} ${checked.error.message}`)));
  else parts.push(h('p', { class: 'good' }, `✓ ${t('run.valid')}`), issues(t('run.advice'), checked.result.advice, 'quiet'));
  const good = 'result' in checked;
  if (good && 'result' in point) parts.push(overlaid(point.result.points, (JSON.parse(text) as { results: Own }).results));
  else if (good && 'error' in point) parts.push(h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.error')), h('p', null, point.error.message)));
  if (good) parts.push(traced(text));
  parts.push(h('div', { class: 'buttons' },
    good && 'result' in share ? copier(t('run.share'), () => share.result.link!) : null,
    good && 'result' in markdown ? copier(t('run.issue'), () => markdown.result.document!) : null));
  fill(results, ...parts);
}

function shared(text: string): void {
  const reply = ask<Reported>('report', { action: 'overlay', document: text });
  if ('error' in reply) {
    fill(results, h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.error')), h('p', null, reply.error.message)));
    return;
  }
  fill(results, overlaid(reply.result.points, null), h('div', { class: 'buttons' }, copier(t('copy.link'), () => location.href)));
}

function sample(): string {
  const reply = ask<Reported>('report', { action: 'build', model: 'TinyLlama-1.1B-Chat-v1.0', gpu: 'rtx4090', precision: 'NF4' });
  return 'result' in reply ? reply.result.document! : '';
}

let timer = 0;
export function show(panel: HTMLElement, state: State): void {
  const area = panel.querySelector<HTMLTextAreaElement>('#report');
  const overlay = state.overlay ? link({ tab: 'run', overlay: state.overlay }) : '';
  const text = pasted || state.report || overlay;
  const typing = panel.contains(document.activeElement) && document.activeElement instanceof HTMLTextAreaElement;
  if (!area || !typing) {
    const focus = document.activeElement?.id;
    const which = CASES[state.case ?? ''] ? state.case! : 'nvidia';
    const box = h('textarea', {
      id: 'report', rows: 7, spellcheck: 'false', value: text,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => {
          const long = box.value.length > LINK_MAX;
          pasted = long ? box.value : '';
          [others, trace, refused] = [[], '', ''];
          set({ report: long ? '' : box.value, overlay: '' }, false);
        }, 150);
      },
    });
    const picker = h('input', { type: 'file', multiple: true, class: 'unseen', tabindex: '-1', 'aria-label': t('open'), accept: '.json,.csv,application/json,text/csv', onchange: () => drop([...(picker.files ?? [])]) });
    const forget = (): void => { [pasted, others, trace, refused] = ['', [], '', '']; };
    fill(panel,
      h('section', { class: 'headline' }, h('h2', null, t('run.1')), h('p', { class: 'quiet' }, t('run.where'))),
      h('fieldset', { class: 'chips' }, h('legend', { class: 'unseen' }, t('run.case')),
        Object.entries(CASES).map(([key, [name]]) => h('label', null, h('input', { type: 'radio', name: 'case', id: `case-${key}`, value: key, checked: key === which, onchange: () => set({ case: key }, true) }), h('span', null, t(name))))),
      h('ol', { class: 'commands' }, CASES[which]![1].map((c) => h('li', null, h('div', { class: 'command' }, h('code', { tabindex: '0' }, c), copier(t('copy.cmd'), () => c))))),
      h('section', null, h('h2', null, t('run.2')),
        h('label', { for: 'report' }, t('run.drop')), box,
        h('p', { class: 'quiet' }, t('audit.local')),
        h('div', { class: 'buttons' }, button(t('open'), () => picker.click()), picker,
          button(t('run.sample'), () => { forget(); const s = sample(); if (s.length > LINK_MAX) pasted = s; set({ report: s.length > LINK_MAX ? '' : s, overlay: '' }, true); }),
          button(t('clear'), () => { forget(); set({ report: '', overlay: '' }, true); })),
        h('p', { class: 'quiet' }, t('run.demo'))),
      results, fit.section(state), gallery);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
  if (!text.trim()) fill(results, traced(null));
  else if (isLink(text)) shared(text);
  else report(text);
  if (refused) results.prepend(h('div', { class: 'failure', role: 'alert' }, h('p', null, refused)));
  fit.show(state);
  if (asked) retell();
  else void gather();
  asked = true;
}
