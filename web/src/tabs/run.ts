// Run it yourself: commands, checking a report as the command line does, overlaying it on the curve.
import { ask, call } from '../engine';
import { Chart } from '../chart';
import { h, num, pct } from '../dom';
import { spoken } from '../controls';
import { t } from '../i18n';
import { button, copier, fill, tag } from '../parts';
import { link, set, type State } from '../state';

export const KEYS = ['case', 'overlay', 'report'];
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
const trace = new Chart('ecocompute-power');
const results = h('div', { class: 'answer', 'aria-live': 'polite' });
const gallery = h('div');
let pasted = '';
let gathered = '';

const CASES: Record<string, [string, string[]]> = {
  nvidia: ['run.nvidia', ['./quickstart.sh', 'ecocompute doctor', "ecocompute measure TinyLlama/TinyLlama-1.1B-Chat-v1.0 --precision FP16,NF4 --workload 'worker:python3 workers/transformers_worker.py' --out ecocompute-out"]],
  server: ['run.server', ['./quickstart.sh', 'ecocompute track -- ./your-benchmark.sh']],
  other: ['run.other', ['./quickstart.sh', 'ecocompute doctor', 'ecocompute measure TinyLlama/TinyLlama-1.1B-Chat-v1.0 --workload builtin --precision FP16,NF4 --out ecocompute-out']],
  none: ['run.none', ['./quickstart.sh', 'ecocompute measure TinyLlama-1.1B-Chat-v1.0 --gpu rtx4090 --out ecocompute-out']],
};

export async function drop(file: File): Promise<void> {
  pasted = await file.text();
  set({ tab: 'run', overlay: '', report: '' }, true);
}

// A share link, its query, a bare blob or a report; the engine decides what it is and what is wrong.
const isLink = (text: string): boolean => !text.trimStart().startsWith('{') && (/overlay=/.test(text) || /^https?:/.test(text.trim()));

function overlaid(points: Point[]): HTMLElement {
  const p = points[0]!;
  const where = p.arch ? (p.gpu && p.gpu !== '—' ? { gpu: p.gpu } : { arch: p.arch }) : {};
  const marks = points.map((q) => ({ params_b: q.N, delta_pct: q.dE, n: 1, label: `${q.model}, ${q.gpu}, ${q.precision}: ${pct(q.dE)} · ${q.basis}` }));
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
      h('div', { class: 'big' }, h('span', { class: 'figure' }, pct(q.dE)), h('span', { class: 'what' }, `${q.model} · ${num(q.N)}B · ${q.gpu} · ${q.precision} `, tag(q.basis))),
      q.curve_pct !== null ? h('div', { class: 'big' }, h('span', { class: 'figure' }, pct(q.curve_pct)), h('span', { class: `what ${q.inside ? 'good' : 'warn'}` }, `${t('run.published')}, ${t(q.inside ? 'run.inside' : 'run.outside')}`)) : null)),
    chart.element);
}

function issues(title: string, list: Issue[], kind: string): HTMLElement | null {
  return list.length ? h('section', null, h('h3', null, title), h('ul', { class: kind }, list.map((i) => h('li', null, h('code', null, i.pointer || '/'), ` ${i.message}`)))) : null;
}

// The power trace of a report, when it holds one.
function traced(text: string): HTMLElement | null {
  const document = JSON.parse(text) as { power_trace?: { t_s?: unknown; power_w?: unknown; watts?: unknown; idle_w?: number; windows?: unknown } };
  const p = document.power_trace;
  const watts = p?.power_w ?? p?.watts;
  if (!p || !Array.isArray(p.t_s) || !Array.isArray(watts)) return null;
  trace.draw('power', { title: t('run.trace'), t_s: p.t_s, power_w: watts, idle_w: p.idle_w, windows: p.windows ?? [] });
  return trace.element;
}

function report(text: string): void {
  const checked = ask<Reported>('report', { action: 'validate', document: text });
  const point = ask<Reported>('report', { action: 'overlay', document: text });
  const share = ask<Reported>('report', { action: 'share', document: text });
  const markdown = ask<Reported>('report', { action: 'markdown', document: text });
  const parts: (HTMLElement | null)[] = [];
  if ('error' in checked) parts.push(h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.invalid')), h('p', null, `${checked.error.param ?? ''} ${checked.error.message}`)));
  else parts.push(h('p', { class: 'good' }, `✓ ${t('run.valid')}`), issues(t('run.advice'), checked.result.advice, 'quiet'));
  const valid = 'result' in checked;
  if (valid && 'result' in point) parts.push(overlaid(point.result.points));
  else if (valid && 'error' in point) parts.push(h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.error')), h('p', null, point.error.message)));
  if (valid) parts.push(traced(text));
  parts.push(h('div', { class: 'buttons' },
    valid && 'result' in share ? copier(t('run.share'), () => share.result.link!) : null,
    valid && 'result' in markdown ? copier(t('run.issue'), () => markdown.result.document!) : null));
  fill(results, ...parts);
}

function shared(text: string): void {
  const reply = ask<Reported>('report', { action: 'overlay', document: text });
  if ('error' in reply) {
    fill(results, h('div', { class: 'failure', role: 'alert' }, h('p', null, t('run.error')), h('p', null, reply.error.message)));
    return;
  }
  fill(results, overlaid(reply.result.points), h('div', { class: 'buttons' }, copier(t('copy.link'), () => location.href)));
}

function sample(): string {
  const reply = ask<Reported>('report', { action: 'build', model: 'TinyLlama-1.1B-Chat-v1.0', gpu: 'rtx4090', precision: 'NF4' });
  return 'result' in reply ? reply.result.document! : '';
}

interface Replication {
  model?: string;
  gpu?: string;
  precision?: string;
  delta_pct?: number;
  basis?: string;
}
// Only this page's own server is asked, and only when there is one.
async function gather(): Promise<void> {
  if (!location.protocol.startsWith('http') || gathered === location.host) return;
  gathered = location.host;
  let list: Replication[] = [];
  try {
    const reply = await fetch('v1/replications', { credentials: 'omit', referrerPolicy: 'no-referrer' });
    const document = reply.ok ? ((await reply.json()) as { replications?: Replication[]; rows?: Replication[] }) : {};
    list = document.replications ?? document.rows ?? [];
  } catch {
    list = [];
  }
  fill(gallery, h('h3', null, t('run.gallery')),
    list.length
      ? h('ul', null, list.slice(0, 100).map((r) => h('li', null, `${r.model ?? ''} · ${r.gpu ?? ''} · ${r.precision ?? ''}: ${pct(r.delta_pct)} `, tag(r.basis ?? 'unverified'))))
      : h('p', { class: 'quiet' }, t('run.nogallery')));
}

let timer = 0;
export function show(panel: HTMLElement, state: State): void {
  const area = panel.querySelector<HTMLTextAreaElement>('#report');
  const overlay = state.overlay ? link({ tab: 'run', overlay: state.overlay }) : '';
  const text = pasted || state.report || overlay;
  if (!area || document.activeElement !== area) {
    const focus = document.activeElement?.id;
    const which = CASES[state.case ?? ''] ? state.case! : 'nvidia';
    const box = h('textarea', {
      id: 'report', rows: 7, spellcheck: 'false', value: text,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => {
          const long = box.value.length > LINK_MAX;
          pasted = long ? box.value : '';
          set({ report: long ? '' : box.value, overlay: '' }, false);
        }, 150);
      },
    });
    const picker = h('input', { type: 'file', class: 'unseen', tabindex: '-1', 'aria-label': t('open'), accept: '.json,application/json', onchange: () => picker.files?.[0] && drop(picker.files[0]) });
    fill(panel,
      h('section', { class: 'headline' }, h('h2', null, t('run.1'))),
      h('fieldset', { class: 'chips' }, h('legend', { class: 'unseen' }, t('run.case')),
        Object.entries(CASES).map(([key, [name]]) => h('label', null, h('input', { type: 'radio', name: 'case', id: `case-${key}`, value: key, checked: key === which, onchange: () => set({ case: key }, true) }), h('span', null, t(name))))),
      h('ol', { class: 'commands' }, CASES[which]![1].map((c) => h('li', null, h('div', { class: 'command' }, h('code', { tabindex: '0' }, c), copier(t('copy.cmd'), () => c))))),
      h('section', null, h('h2', null, t('run.2')),
        h('label', { for: 'report' }, t('run.drop')), box,
        h('p', { class: 'quiet' }, t('audit.local')),
        h('div', { class: 'buttons' }, button(t('open'), () => picker.click()), picker,
          button(t('run.sample'), () => { pasted = ''; const s = sample(); if (s.length > LINK_MAX) pasted = s; set({ report: s.length > LINK_MAX ? '' : s, overlay: '' }, true); }),
          button(t('clear'), () => { pasted = ''; set({ report: '', overlay: '' }, true); })),
        h('p', { class: 'quiet' }, `${t('run.sample')}: ${t('run.demo')}`)),
      results, gallery);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
  if (!text.trim()) results.replaceChildren();
  else if (isLink(text)) shared(text);
  else report(text);
  void gather();
}
