// Small helpers: elements, numbers as text, copying and saving.

type Child = Node | string | number | null | undefined | false | Child[];
type Props = Record<string, unknown>;

/** h('button', {type: 'button', onclick}, 'text'): attributes; on… are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props?: Props | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value as EventListener);
    else if (key === 'value' || key === 'checked') Object.assign(element, { [key]: value });
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

/**
 * Makes `old` look like `fresh` and changes only what differs: what stays need not be styled and
 * laid out again under a moving slider. Listeners stay those of `old`, so they read their element.
 */
export function morph(old: Element, fresh: Element): void {
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value) continue;
    if (name === 'style') (old as HTMLElement).style.cssText = (fresh as HTMLElement).style.cssText; // an attribute would be against the policy
    else old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((node, i) => {
    const was = before[i];
    if (!was) old.appendChild(node);
    else if (was.nodeType !== node.nodeType || was.nodeName !== node.nodeName) old.replaceChild(node, was);
    else if (node instanceof Element) morph(was as Element, node);
    else if (was.nodeValue !== node.nodeValue) was.nodeValue = node.nodeValue;
  });
  for (const node of before.slice(after.length)) node.remove();
}

const NBSP = '\u00a0';
const MINUS = '\u2212';

/** A number as the engine rounded it, thousands apart, a real minus. */
export function num(v: number | null | undefined): string {
  if (v === null || v === undefined) return '–';
  const [whole, part] = String(Math.abs(v)).split('.');
  const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
  return (v < 0 ? MINUS : '') + apart + (part ? `.${part}` : '');
}
export const signed = (v: number): string => (v > 0 ? '+' : '') + num(v);
export const pct = (v: number | null | undefined): string =>
  v === null || v === undefined ? '–' : `${signed(v)}${NBSP}%`;
/** What comes from outside with all its digits, to one decimal. */
export const tenth = (v: number | null | undefined): string => pct(v === null || v === undefined ? v : Number(v.toFixed(1)));
/** Money to the cent; what is less than a dollar as the engine rounded it. */
export function usd(v: number | null | undefined): string {
  if (v === null || v === undefined) return '–';
  const cents = Math.round(v * 100) / 100;
  if (v < 1 || Number.isInteger(cents)) return `$${num(v < 1 ? v : cents)}`;
  return `$${num(Math.trunc(cents))}.${cents.toFixed(2).split('.')[1]!}`;
}
export const unit = (v: number | null | undefined, u: string): string =>
  v === null || v === undefined ? '–' : `${num(v)}${NBSP}${u}`;
export const range = (r: [number, number] | null | undefined, show: (v: number) => string = num): string =>
  r ? `${show(r[0])} … ${show(r[1])}` : '';
/** A range of sizes or batches; the ends of what the engine looks at are not limits of the range. */
const open = (r: [number, number] | null | undefined, u: string): string =>
  r ? `${r[0] <= 0.1 ? `<${NBSP}` : ''}${num(r[0])}${u} … ${r[1] >= 1000 ? `>${NBSP}` : ''}${num(r[1])}${u}` : '';
export const sizes = (r: [number, number] | null | undefined): string => open(r, 'B');
export const batches = (r: [number, number] | null | undefined): string => open(r, '');
/** A probability; the ends are never said to be certain. */
export function chance(p: number | null | undefined): string {
  if (p === null || p === undefined) return '–';
  const v = Math.round(p * 1000) / 10;
  return v >= 99.9 ? `>${NBSP}99.9${NBSP}%` : v <= 0.1 ? `<${NBSP}0.1${NBSP}%` : `${num(v)}${NBSP}%`;
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'aside', 'aria-hidden': 'true', value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function save(name: string, blob: Blob): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Words a shell takes as they are. */
export function quote(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The same question on a command line. */
export function command(op: string, args: Record<string, unknown>): string {
  const words = ['ecocompute', op];
  for (const [key, value] of Object.entries(args)) {
    if (value === null || value === undefined || value === false || value === '') continue;
    words.push(`--${key.replaceAll('_', '-')}`);
    if (value !== true) words.push(quote(Array.isArray(value) ? value.join(',') : String(value)));
  }
  return words.join(' ');
}
