// The page: an engine, an address, nine tabs. What is shown follows from the address alone.
import { load, speak } from './engine';
import { h } from './dom';
import { language, setLanguage, t } from './i18n';
import { failure, inside } from './parts';
import { get, link, set, start, type State } from './state';
import * as about from './tabs/about';
import * as audit from './tabs/audit';
import * as cost from './tabs/cost';
import * as data from './tabs/data';
import * as diagnose from './tabs/diagnose';
import * as model from './tabs/model';
import * as optimize from './tabs/optimize';
import * as run from './tabs/run';
import * as tested from './tabs/tested';

const TABS: Record<string, (panel: HTMLElement, state: State) => void> = {
  tested: tested.show, model: model.show, optimize: optimize.show, diagnose: diagnose.show, cost: cost.show,
  audit: audit.show, run: run.show, data: data.show, about: about.show,
};
// Names that links of the published site and people use.
const ALSO: Record<string, string> = {
  models: 'tested', measured: 'tested', yours: 'model', estimate: 'model', your: 'model', optimizer: 'optimize',
  replications: 'run', fit: 'run', overlay: 'run', method: 'about', methodology: 'about', evidence: 'data',
};
const THEMES = ['auto', 'light', 'dark'];
const KNOWN = new Set(['tab', 'lang', 'theme', 'q', 'excluded', 'compare', 'N',
  ...model.KEYS, ...optimize.KEYS, ...diagnose.KEYS, ...cost.KEYS, ...data.KEYS, ...audit.KEYS, ...run.KEYS]);

const main = document.getElementById('main')!;
const panels = new Map<string, HTMLElement>();

function tabOf(state: State): string {
  const asked = state.tab ?? (state.overlay ? 'run' : 'model');
  return TABS[asked] ? asked : (ALSO[asked] ?? '');
}

function choice(name: string, key: string, options: [string, string][], value: string): HTMLElement {
  const element = h('select', { id: `s-${key}`, 'aria-label': name, onchange: () => set({ [key]: element.value }, true) }, options.map(([v, label]) => h('option', { value: v }, label)));
  element.value = value;
  return element;
}

let dressed = '';
let addressing = 0;
function chrome(state: State, tab: string): void {
  setLanguage(state.lang);
  const look = JSON.stringify([tab, language(), state.theme]);
  if (look === dressed) { // a slider moves: the links of the tabs follow when it rests
    clearTimeout(addressing);
    addressing = window.setTimeout(() => {
      for (const name of Object.keys(TABS)) document.getElementById(`t-${name}`)?.setAttribute('href', link({ ...get(), tab: name, row: '' }));
    }, 250);
    return;
  }
  dressed = look;
  speak(language() === 'zh');
  const theme = THEMES.includes(state.theme ?? '') ? state.theme! : 'auto';
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById('tagline')!.textContent = t('tagline');
  document.getElementById('skip')!.textContent = t('skip');
  const focus = document.activeElement?.id;
  document.getElementById('switches')!.replaceChildren(
    choice(t('language'), 'lang', [['en', 'English'], ['zh', '中文']], language()),
    choice(t('theme'), 'theme', THEMES.map((v) => [v, `${t('theme')}: ${t(v)}`]), theme));
  const tabs = document.getElementById('tabs')!;
  tabs.replaceChildren(...Object.keys(TABS).map((name) => inside({ tab: name, row: '' }, { id: `t-${name}`, 'aria-current': name === tab ? 'page' : null }, t(`tab.${name}`))));
  if (focus && /^[st]-/.test(focus)) document.getElementById(focus)?.focus({ preventScroll: true });
  const current = tabs.querySelector<HTMLElement>('[aria-current]');
  if (current) tabs.scrollLeft = current.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
  document.getElementById('foot')!.replaceChildren(h('p', null, t('copyright')));
  document.title = tab ? `${t(`tab.${tab}`)} · ecocompute` : 'ecocompute';
}

// What a link holds and no control takes: said, never guessed.
function strangers(state: State): HTMLElement | null {
  const unknown = Object.keys(state).filter((k) => !KNOWN.has(k) && !/^utm_/.test(k));
  return unknown.length ? failure({ code: '', message: `${t('bad link')}: ${unknown.slice(0, 5).map((k) => k.slice(0, 40)).join(', ')} (${t('link.unknown')})`, param: null }) : null;
}

let language_ = '';
function show(state: State): void {
  const tab = tabOf(state);
  chrome(state, tab);
  if (language_ !== language()) panels.clear();
  language_ = language();
  if (!tab) {
    main.replaceChildren(failure({ code: '', message: `${t('bad link')}: tab=${(state.tab ?? '').slice(0, 40)}`, param: null }));
    return;
  }
  if (state.N && !state.params_b) state.params_b = state.N; // as the published API names it
  let panel = panels.get(tab);
  if (!panel) panels.set(tab, (panel = h('div', { class: `panel ${tab}` })));
  const odd = strangers(state);
  if (main.lastChild !== panel || main.childNodes.length !== (odd ? 2 : 1) || odd) main.replaceChildren(...(odd ? [odd] : []), panel);
  TABS[tab]!(panel, state);
}

function drops(): void {
  let depth = 0;
  const over = (on: boolean): void => { document.body.classList.toggle('dropping', on); };
  document.addEventListener('dragenter', (e) => { e.preventDefault(); depth++; over(true); });
  document.addEventListener('dragleave', () => { depth = Math.max(0, depth - 1); over(depth > 0); });
  document.addEventListener('dragover', (e) => e.preventDefault());
  document.addEventListener('drop', (e) => {
    e.preventDefault();
    depth = 0;
    over(false);
    const files = [...(e.dataTransfer?.files ?? [])];
    if (!files.length) return;
    const named = (what: RegExp): boolean => files.every((f) => what.test(f.name));
    const auditing = tabOf(get()) === 'audit' && !files.some((f) => /^(energy.*\.json|trace\.csv)$/i.test(f.name));
    if (named(/\.(json|csv)$/i) && !auditing) void run.drop(files);
    else void audit.drop(files);
  });
}

async function boot(): Promise<void> {
  setLanguage(new URLSearchParams(location.search).get('lang') ?? undefined);
  document.getElementById('loading')!.textContent = t('reading');
  try {
    await load();
  } catch (e) {
    main.replaceChildren(failure({ code: '', message: `${t('failed')}: ${e instanceof Error ? e.message : String(e)}`, param: null }));
    return;
  }
  drops();
  start(show);
  document.documentElement.dataset.ready = '1';
}
void boot();
