// The page's whole state is its address: every control has a key there, so a link restores
// everything and the back button works.

export type State = Record<string, string>;

const KEYS_MAX = 64;
const LENGTH_MAX = 20_000;
let now: State = Object.create(null) as State;
let listener: (s: State) => void = () => {};
let timer = 0;

function read(): State {
  const text = location.search.length > 1 ? location.search : location.hash.startsWith('#?') ? location.hash.slice(1) : '';
  const state = Object.create(null) as State; // a link may say '__proto__'
  let n = 0;
  for (const [key, value] of new URLSearchParams(text.slice(0, LENGTH_MAX))) {
    if (n++ >= KEYS_MAX) break;
    if (!Object.hasOwn(state, key)) state[key] = value;
    else if (key === 'overlay') state[key] += `\n${value}`; // a share link may hold several points
  }
  return state;
}

export function link(state: State): string {
  const pairs = Object.entries(state).filter(([, v]) => v !== '');
  const query = new URLSearchParams(pairs.flatMap(([k, v]) => (k === 'overlay' ? v.split('\n').map((one) => [k, one]) : [[k, v]]))).toString();
  return query ? `?${query}` : '?';
}

function write(push: boolean): void {
  const address = link(now);
  try {
    history[push ? 'pushState' : 'replaceState'](null, '', address);
  } catch {
    history[push ? 'pushState' : 'replaceState'](null, '', `#${address}`); // a file, in some browsers
  }
}

export const get = (): State => now;

/** Changes keys; '' removes one. `push`: a new entry in the history, else the present one. */
export function set(patch: State, push: boolean): void {
  now = Object.assign(Object.create(null) as State, now, patch);
  for (const key of Object.keys(now)) if (now[key] === '') delete now[key];
  clearTimeout(timer);
  if (push) write(true);
  else timer = window.setTimeout(() => write(false), 200); // sliders; browsers limit the rate
  listener(now);
}

export function start(onChange: (s: State) => void): void {
  listener = onChange;
  now = read();
  window.addEventListener('popstate', () => {
    clearTimeout(timer);
    now = read();
    listener(now);
  });
  listener(now);
}
