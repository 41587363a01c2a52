// Replications: reports that others sent to the server this page comes from (docs/api.md). Nobody's words
// are trusted: they are shown as text, and a basis that is not known is shown as unverified.
import { h, num, range, tenth } from '../dom';
import { language, t } from '../i18n';
import { button, fill, table, tag } from '../parts';

interface Row {
  id: string;
  received: string;
  gpu: string | null;
  model: string | null;
  precision: string | null;
  basis: string | null;
  signer: string | null;
  params_b: number | null;
  delta_pct: number | null;
  ci: [number, number] | null;
  n: number | null;
  replication: boolean;
  classified: boolean;
  agrees: boolean;
  curve_pct: number | null;
  band_pct: number | null;
}
interface Page {
  total: number;
  next: string | null;
  rows: Row[];
}

const BASES = ['measured', 'interpolated', 'extrapolated', 'modelled', 'estimated'];
const LIMIT = 20;
export const gallery = h('section', { class: 'gallery', 'aria-live': 'polite' });
let rows: Row[] = [];
let busy = false;

const word = (v: unknown): string => (typeof v === 'string' ? v.slice(0, 80) : '');
const figure = (v: unknown): number | null => (typeof v === 'number' && Number.isFinite(v) ? v : null);
const span = (v: unknown): [number, number] | null =>
  Array.isArray(v) && figure(v[0]) !== null && figure(v[1]) !== null ? [v[0] as number, v[1] as number] : null;

let view = (): void => {};
let told = '';
function put(drawn: () => void): void {
  view = drawn;
  told = language();
  view();
}
/** The same in the page's language, where that has changed. */
export function retell(): void {
  if (told !== language()) put(view);
}

const state = (key: string, retry = false, more = ''): void => put(() =>
  fill(gallery, h('h2', null, t('run.gallery')), h('p', { class: 'quiet' }, t(key) + more), retry ? h('div', { class: 'buttons' }, button(t('retry'), () => void gather(''))) : null));

function against(r: Row): Node | string {
  if (r.classified !== true || figure(r.curve_pct) === null) return h('span', { class: 'quiet' }, t(r.replication === false ? 'gallery.apart' : 'gallery.nocurve'));
  return h('span', { class: r.agrees ? 'good' : 'warn' }, `${tenth(r.curve_pct)} ± ${num(figure(r.band_pct))}: ${t(r.agrees ? 'gallery.inside' : 'gallery.outside')}`);
}

function draw(page: Page): void {
  fill(gallery, h('h2', null, t('run.gallery')),
    h('p', { class: 'quiet' }, `${num(figure(page.total) ?? rows.length)} ${t('gallery.reports')}`),
    table(t('run.gallery'), [
      { name: t('p.model'), cell: (r: Row) => word(r.model) || '–' },
      { name: t('p.gpu'), cell: (r) => word(r.gpu) || '–' },
      { name: t('p.precision'), cell: (r) => word(r.precision) },
      { name: t('change2'), right: true, cell: (r) => tenth(figure(r.delta_pct)) },
      { name: t('range95'), right: true, cell: (r) => range(span(r.ci), tenth) },
      { name: 'n', right: true, cell: (r) => num(figure(r.n)) },
      { name: t('run.published'), cell: against },
      { name: t('basis'), cell: (r) => tag(BASES.includes(r.basis ?? '') ? r.basis : 'unverified') },
      { name: t('signed'), cell: (r) => (r.signer ? h('code', { title: word(r.signer) }, word(r.signer).slice(0, 8)) : '–') },
      { name: t('received'), cell: (r) => word(r.received).slice(0, 10) }], rows),
    typeof page.next === 'string' && page.next ? h('div', { class: 'buttons' }, button(t('more rows'), () => void gather(page.next!))) : null);
}

/** Asks this page's own server, and only when there is one. */
export async function gather(cursor = ''): Promise<void> {
  if (busy) return;
  if (!location.protocol.startsWith('http')) {
    state('gallery.file');
    return;
  }
  busy = true;
  try {
    const query = new URLSearchParams({ limit: String(LIMIT), ...(cursor ? { cursor } : {}) });
    const reply = await fetch(`v1/replications?${query.toString()}`, { credentials: 'omit', referrerPolicy: 'no-referrer' });
    if (reply.ok) {
      const page = (await reply.json()) as Page;
      if (!Array.isArray(page.rows)) throw new Error('rows');
      rows = (cursor ? rows : []).concat(page.rows.filter((r) => r !== null && typeof r === 'object'));
      if (rows.length) put(() => draw(page));
      else state('gallery.empty');
    } else if (reply.status === 501 || reply.status === 404) state('gallery.none'); // no store, or no ecocompute behind the page
    else state('gallery.failed', true, ` (${reply.status})`);
  } catch {
    state('gallery.offline', true);
  }
  busy = false;
}
