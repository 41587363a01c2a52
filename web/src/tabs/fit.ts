// Own points fitted with the published curve: `ecocompute fit --data`, the file being the text given here.
import { ask } from '../engine';
import { h, num, tenth } from '../dom';
import { t } from '../i18n';
import { button, failure, fill, table, takeaway } from '../parts';
import { set, type State } from '../state';

export const KEYS = ['points'];
const LINK_MAX = 4000;
const EXAMPLE = 'arch,precision,gpu,params_b,delta_pct\nada,NF4,RTX 4090,1.1,31\nada,NF4,RTX 4090,3,4\nada,NF4,RTX 4090,7,-27\nada,NF4,RTX 4090,14,-38\n';

interface Curve {
  arch: string;
  precision: string;
  n: number;
  A: number;
  S: number;
  Nstar: number;
  resid_std: number;
  crossover_b: number | null;
  identifiable: boolean;
}

const out = h('div', { class: 'answer', 'aria-live': 'polite' });
let long = '';
let timer = 0;

function fitted(text: string): void {
  if (!text.trim()) {
    out.replaceChildren();
    return;
  }
  const reply = ask<{ curves: Curve[] }>('fit', { data: text });
  if ('error' in reply) {
    fill(out, failure({ ...reply.error, param: null }));
    return;
  }
  fill(out, table(t('fit'), [
    { name: t('p.arch'), cell: (c: Curve) => c.arch },
    { name: t('p.precision'), cell: (c) => c.precision },
    { name: 'n', right: true, cell: (c) => num(c.n) },
    { name: t('crossover.at'), right: true, cell: (c) => (c.crossover_b === null ? t('none') : `${num(Number(c.crossover_b.toFixed(2)))}B`) },
    { name: t('fit.small'), right: true, cell: (c) => tenth(c.A) },
    { name: t('fit.half'), right: true, cell: (c) => (c.identifiable ? `${num(Number(c.Nstar.toFixed(2)))}B` : '–') },
    { name: t('fit.rms'), right: true, cell: (c) => num(Number(c.resid_std.toFixed(1))) }], reply.result.curves),
  reply.result.curves.some((c) => !c.identifiable) ? h('p', { class: 'quiet' }, t('fit.loose')) : null,
  takeaway('fit', { data: text }, { data: 'points.csv' }));
}

export function section(state: State): HTMLElement {
  const text = long || (state.points ?? '');
  const box = h('textarea', {
    id: 'points', rows: 6, spellcheck: 'false', value: text, placeholder: EXAMPLE.split('\n')[0],
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        long = box.value.length > LINK_MAX ? box.value : '';
        set({ points: long ? '' : box.value }, false);
      }, 150);
    },
  });
  return h('section', null, h('h2', null, t('run.3')), h('p', { class: 'quiet' }, t('fit.sub')),
    h('label', { for: 'points', class: 'unseen' }, t('run.3')), box,
    h('div', { class: 'buttons' }, button(t('example'), () => { long = ''; set({ points: EXAMPLE }, true); }), button(t('clear'), () => { long = ''; set({ points: '' }, true); })),
    out);
}

export const show = (state: State): void => fitted(long || (state.points ?? ''));
