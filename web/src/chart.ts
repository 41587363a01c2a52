// A chart of the engine as a figure: readable by pointer and by keys, saved as SVG or PNG.
import { chart, type Failure } from './engine';
import { append, h, morph, save } from './dom';
import { language, t } from './i18n';

interface Mark {
  at: number; // its place among the points in the picture
  label: string;
  x: number;
  y: number;
}

let serial = 0;
let usual = 760; // the width a chart most likely has before it is seen

// The engine's SVG carries its own style for use elsewhere; here the page's theme decides.
function parse(text: string, tail: string): SVGSVGElement {
  const bare = text.replace(/<style>[^]*?<\/style>/, '').replace(/ style="[^"]*"/g, '');
  const svg = new DOMParser().parseFromString(bare, 'image/svg+xml').documentElement as unknown as SVGSVGElement;
  for (const node of svg.querySelectorAll('[id]')) node.id += tail;
  for (const node of svg.querySelectorAll('[clip-path]')) {
    node.setAttribute('clip-path', node.getAttribute('clip-path')!.replace(')', `${tail})`));
  }
  svg.setAttribute('aria-labelledby', (svg.getAttribute('aria-labelledby') ?? '').replace(/\S+/g, (id) => id + tail));
  return document.importNode(svg, true);
}

function center(node: SVGElement): [number, number] {
  const at = (name: string): number => Number(node.getAttribute(name));
  if (node.classList.contains('eco-shade')) return [at('x') + at('width') / 2, at('y') + at('height') / 2];
  if (node.hasAttribute('cx')) return [Number(node.getAttribute('cx')), Number(node.getAttribute('cy'))];
  if (node.hasAttribute('width')) {
    return [Number(node.getAttribute('x')) + Number(node.getAttribute('width')), Number(node.getAttribute('y')) + 11];
  }
  const d = (node.getAttribute('d') ?? node.querySelector('path')?.getAttribute('d') ?? '').match(/-?[\d.]+/g);
  return d ? [Number(d[0]), Number(d[1]) + 8] : [0, 0];
}

function marksOf(svg: SVGSVGElement): Mark[] {
  const marks: Mark[] = [];
  for (const title of svg.querySelectorAll('title')) {
    const node = title.parentNode as SVGElement;
    const label = title.textContent ?? '';
    if (node === (svg as unknown as SVGElement) || !label) continue;
    const [x, y] = center(node);
    title.remove(); // one tooltip, not two
    node.classList.add('point');
    marks.push({ at: marks.length, label, x, y });
  }
  return marks.sort((a, b) => a.x - b.x || a.y - b.y);
}

// A picture has one theme: the page's, not the machine's.
async function png(svg: string, name: string): Promise<void> {
  const theme = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const themed = svg.replace('screen and (prefers-color-scheme:dark)', theme === 'dark' ? 'all' : 'not all');
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([themed], { type: 'image/svg+xml' }));
  await image.decode();
  const canvas = h('canvas', { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
  const pen = canvas.getContext('2d')!;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => blob && save(`${name}.png`, blob), 'image/png');
}

export class Chart {
  readonly element: HTMLElement;
  private readonly frame: HTMLElement;
  private readonly tip: HTMLElement;
  private readonly tools: HTMLElement;
  private svg: SVGSVGElement | null = null;
  private asked: [string, object] | null = null;
  private width = 0;
  private marks: Mark[] = [];
  private at = -1;
  private readonly tail = `-${++serial}`;

  constructor(private readonly name: string) {
    this.tip = h('p', { class: 'tip', 'aria-live': 'polite', role: 'status' });
    this.frame = h('div', { class: 'frame', tabindex: '0', role: 'group', onkeydown: (e: KeyboardEvent) => this.key(e) });
    this.frame.addEventListener('pointermove', (e) => this.near(e));
    this.frame.addEventListener('pointerdown', (e) => this.near(e)); // a finger does not hover
    this.frame.addEventListener('pointerleave', (e) => { if (e.pointerType !== 'touch') this.show(-1); }); // a lifted finger has read, not left
    this.frame.addEventListener('blur', () => this.show(-1));
    this.tools = h('div', { class: 'tools' });
    new ResizeObserver(([entry]) => this.fit(entry!.contentRect.width)).observe(this.frame);
    this.element = h('figure', { class: 'chart' }, this.frame, this.tip, this.tools);
  }

  /** Draws at the width it has; a failure is written where the chart would be. */
  draw(kind: string, json: object): void {
    this.asked = [kind, json];
    const drawn = this.picture(this.width || usual);
    if (typeof drawn !== 'string') {
      this.fail(drawn);
      return;
    }
    const fresh = parse(drawn, this.tail);
    const title = fresh.querySelector('title')?.textContent ?? '';
    this.show(-1);
    this.marks = marksOf(fresh);
    if (this.svg && this.svg.isConnected) morph(this.svg, fresh);
    else this.frame.replaceChildren((this.svg = fresh));
    this.frame.setAttribute('aria-label', `${t('chart.word')}: ${title} (${t('chart.keys')})`);
    this.tip.dataset.hint = t('chart.keys');
    if (!this.tools.hasChildNodes()) {
      append(this.tools, [
        h('button', { type: 'button', onclick: () => save(`${this.name}.svg`, new Blob([this.whole()], { type: 'image/svg+xml' })) }, t('save.svg')),
        h('button', { type: 'button', onclick: () => png(this.whole(), this.name) }, t('save.png')),
      ]);
    }
    this.element.hidden = false;
  }

  private picture(width: number | undefined): string | Failure {
    const [kind, json] = this.asked!;
    return chart(kind, { ...json, width, lang: language() });
  }

  // What is saved has the usual width, whatever the screen's.
  private whole(): string {
    const drawn = this.picture(undefined);
    return typeof drawn === 'string' ? drawn : '';
  }

  private fit(width: number): void {
    const fits = Math.min(1200, Math.max(280, Math.round(width)));
    if (!width || fits === this.width) return;
    usual = this.width = fits;
    if (this.asked) this.draw(...this.asked);
  }

  fail(why: Failure): void {
    this.svg = null;
    this.asked = null;
    this.marks = [];
    this.tools.replaceChildren();
    delete this.tip.dataset.hint;
    this.frame.replaceChildren(h('p', { class: 'quiet' }, why.message));
  }

  private show(index: number): void {
    if (index === this.at) return;
    this.svg?.querySelector('.point.on')?.classList.remove('on');
    this.at = index;
    const mark = this.marks[index];
    if (mark) this.svg?.querySelectorAll('.point')[mark.at]?.classList.add('on');
    this.tip.textContent = mark?.label ?? '';
  }

  private key(e: KeyboardEvent): void {
    const n = this.marks.length;
    const step: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    if (!n || e.target !== this.frame) return;
    if (e.key in step) this.show(this.at < 0 && step[e.key]! < 0 ? n - 1 : (this.at + step[e.key]! + n) % n);
    else if (e.key === 'Home') this.show(0);
    else if (e.key === 'End') this.show(n - 1);
    else if (e.key === 'Escape') this.show(-1);
    else return;
    e.preventDefault();
  }

  private near(e: PointerEvent): void {
    if (!this.svg || !this.marks.length) return;
    const box = this.svg.getBoundingClientRect();
    const scale = this.svg.viewBox.baseVal.width / box.width;
    const x = (e.clientX - box.left) * scale;
    const y = (e.clientY - box.top) * scale;
    let best = -1;
    let reach = 26 * 26;
    this.marks.forEach((m, i) => {
      const d = (m.x - x) ** 2 + (m.y - y) ** 2;
      if (d < reach) [best, reach] = [i, d];
    });
    this.show(best);
  }
}
