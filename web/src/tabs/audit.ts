// Audit: the rules over pasted code or dropped files, in the page. Nothing is sent.
import { ask, call } from '../engine';
import { command, h, num, quote } from '../dom';
import { language, t, tr } from '../i18n';
import { field, spoken } from '../controls';
import { button, copier, failure, fill, saveText } from '../parts';
import { get, set, type State } from '../state';

export const KEYS = ['code', 'name', 'audit_gpu'];
const LINK_MAX = 1500; // longer code stays out of the address
const EXAMPLE = `import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

config = BitsAndBytesConfig(load_in_8bit=True)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", quantization_config=config)

for prompt in prompts:
    inputs = tokenizer(prompt, return_tensors="pt")
    print(model.generate(**inputs, use_cache=False))
`;

interface Finding {
  rule: string;
  line: number;
  severity: string;
  file: string;
  message: string;
  why: string;
  effect: string | null;
  fix: string;
  patch: string | null;
  safe: boolean;
}
interface Audited {
  verdict: string;
  findings: Finding[];
  skipped: { file: string; reason: string }[];
}
interface Source {
  name: string;
  text: string;
}

let files: Source[] = [];
let pasted = '';
const results = h('div', { class: 'answer', 'aria-live': 'polite' });

const TEXT = /\.(py|ipynb|txt|toml|ya?ml|sh|bash|json|cfg)$|Dockerfile/i;
export const takes = (name: string): boolean => TEXT.test(name);
export async function drop(list: File[]): Promise<void> {
  files = await Promise.all(list.map(async (f) => ({ name: f.name, text: await f.text() })));
  pasted = '';
  set({ tab: 'audit', code: '' }, true);
}

function sources(state: State): Source[] {
  if (files.length) return files;
  const text = pasted || (state.code ?? '');
  return text.trim() ? [{ name: state.name || 'code.py', text }] : [];
}

function args(source: Source): Record<string, unknown> {
  const state = get();
  return spoken('audit', { text: source.text, name: source.name, fail_on: 'never', ...(state.gpu ? { gpu: state.gpu } : { gpu: 'rtx4090' }), ...(state.params_b ? { params_b: Number(state.params_b) } : {}) });
}

function finding(f: Finding): HTMLElement {
  return h('div', { class: `alert ${f.severity}` },
    h('p', null, h('strong', null, f.message), ' ', h('span', { class: 'quiet' }, `${tr('s.', f.severity)} · ${f.rule} · ${f.file}:${num(f.line)}`)),
    h('p', null, f.why),
    f.effect ? h('p', { class: 'effect' }, f.effect) : null,
    h('p', null, `${t('fix')}: ${f.fix}`),
    f.patch ? h('details', null, h('summary', null, `${t('patch')}${f.safe ? ` · ${t('safe')}` : ''}`),
      h('pre', { class: 'diff', tabindex: '0' }, f.patch.split('\n').map((l) => h('span', { class: l.startsWith('+') ? 'add' : l.startsWith('-') ? 'cut' : null }, `${l}\n`))),
      copier(t('copy.cmd'), () => f.patch!)) : null);
}

function run(state: State): void {
  const list = sources(state);
  if (!list.length) {
    fill(results, h('p', { class: 'quiet' }, t('audit.empty')), button(t('example'), () => { files = []; pasted = ''; set({ code: EXAMPLE, name: '' }, true); }));
    return;
  }
  const parts: HTMLElement[] = [];
  for (const source of list) {
    const reply = ask<Audited>('audit', args(source));
    if ('error' in reply) {
      parts.push(failure(reply.error), h('p', null, h('code', null, command('audit', { name: source.name }))));
      continue;
    }
    parts.push(h('section', null, h('h3', null, list.length > 1 ? `${source.name}: ${reply.result.verdict}` : reply.result.verdict),
      reply.result.findings.length ? reply.result.findings.map((f) => finding(f)) : h('p', { class: 'good' }, t('audit.none')),
      reply.result.skipped.map((s) => h('p', { class: 'quiet' }, `${s.file}: ${s.reason}`))));
  }
  const first = list[0]!;
  const said = `${command('audit', { gpu: args(first).gpu })} ${list.map((s) => quote(s.name)).join(' ')}`;
  fill(results, ...parts,
    h('div', { class: 'buttons' },
      copier(t('copy.md'), () => list.map((s) => call('audit', args(s), 'markdown').text).join('\n')),
      copier(t('copy.json'), () => (list.length > 1 ? `[${list.map((s) => call('audit', args(s)).text).join(',')}]` : call('audit', args(first)).text)),
      button('SARIF', () => saveText('ecocompute.sarif', (JSON.parse(call('audit', { ...args(first), emit: 'sarif' }).text) as { document: string }).document, 'application/sarif+json'))),
    h('h3', null, t('as command')), h('div', { class: 'command' }, h('code', { tabindex: '0' }, said), copier(t('copy.cmd'), () => said)));
}

let timer = 0;
let built = '';
export function show(panel: HTMLElement, state: State): void {
  const shape = JSON.stringify([language(), state.gpu, state.name, files.map((f) => f.name)]);
  const area = panel.querySelector<HTMLTextAreaElement>('#code');
  if (!area || shape !== built || document.activeElement !== area) {
    const focus = document.activeElement?.id;
    const text = h('textarea', {
      id: 'code', spellcheck: 'false', autocapitalize: 'off', rows: 16,
      value: files.length ? files.map((f) => `# ${f.name}\n${f.text}`).join('\n') : pasted || (state.code ?? ''),
      readonly: files.length > 0,
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => {
          const long = text.value.length > LINK_MAX;
          pasted = long ? text.value : '';
          set({ code: long ? '' : text.value }, false);
        }, 120);
      },
    });
    const picker = h('input', { type: 'file', id: 'files', multiple: true, class: 'unseen', tabindex: '-1', 'aria-label': t('open'), onchange: () => drop([...(picker.files ?? [])]) });
    const names = ['code.py', 'notebook.ipynb', 'requirements.txt', 'pyproject.toml', 'Dockerfile', 'config.yaml', 'run.sh'];
    const name = h('select', { id: 'c-name', onchange: () => set({ name: name.value }, true) }, names.map((n) => h('option', { value: n }, n)));
    name.value = names.includes(state.name ?? '') ? state.name! : 'code.py';
    fill(panel,
      h('section', { class: 'headline' }, h('h2', null, t('audit.title')), h('p', { class: 'quiet' }, t('audit.paste'), t('stop'), t('audit.local'))),
      h('div', { class: 'split even' },
        h('form', { class: 'editor', onsubmit: (e: Event) => e.preventDefault() },
          h('div', { class: 'filters' }, h('div', { class: 'field' }, h('label', { for: 'c-name' }, t('p.name')), name), field('audit', 'gpu')),
          h('label', { for: 'code', class: 'unseen' }, t('audit.paste')), text,
          h('div', { class: 'buttons' }, button(t('open'), () => picker.click()), picker,
            button(t('example'), () => { files = []; pasted = ''; set({ code: EXAMPLE, name: '' }, true); }),
            button(t('clear'), () => { files = []; pasted = ''; set({ code: '' }, true); }))),
        results));
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }
  built = shape;
  run(state);
}
