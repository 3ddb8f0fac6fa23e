/** Search of the documentation, in the index that the build writes. */
import { type Section, searched } from './search.ts';

const input = document.querySelector<HTMLInputElement>('#search') as HTMLInputElement;
const results = document.querySelector('#results') as HTMLUListElement;
const found = document.querySelector('#found') as HTMLElement;
const pages = document.querySelector('nav details') as HTMLDetailsElement;

// A phone shows the page first.
pages.open = matchMedia('(width >= 48rem)').matches;

let index: Promise<readonly Section[]> | undefined;
const load = () => {
  index ??= fetch('/docs/search.json').then((response) => response.json());
  // Another focus tries again.
  index.catch(() => {
    index = undefined;
  });
  return index;
};

async function show(): Promise<void> {
  const text = input.value;
  const isSearch = text.trim() !== '';
  const sections = isSearch ? searched(await load(), text) : [];
  if (text !== input.value) return;
  results.replaceChildren(...(sections.length > 0 ? sections.map(item) : [none()]));
  results.hidden = !isSearch;
  found.textContent = isSearch ? countOf(sections) : '';
}

const countOf = ({ length }: readonly Section[]) =>
  length === 0 ? 'No results' : `${length} ${length === 1 ? 'result' : 'results'}`;

function none(): HTMLLIElement {
  const line = document.createElement('li');
  line.className = 'none';
  line.textContent = 'No results. Try other words.';
  return line;
}

function item({ path, page, title }: Section): HTMLLIElement {
  const line = document.createElement('li');
  const link = document.createElement('a');
  link.href = path;
  const small = document.createElement('small');
  small.textContent = page;
  link.append(title, small);
  line.append(link);
  return line;
}

const hide = () => {
  results.hidden = true;
};

input.addEventListener('focus', () => void load().catch(() => {}));
input.addEventListener('input', () => void show().catch(hide));
input.addEventListener('keydown', (event) => {
  const first = results.querySelector('a');
  if (event.key === 'Enter' && first && !results.hidden) first.click();
  if (event.key === 'ArrowDown' && first) {
    event.preventDefault();
    first.focus();
  }
});
results.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const links = [...results.querySelectorAll('a')];
  (links[links.indexOf(document.activeElement as HTMLAnchorElement) + step] ?? input).focus();
});
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || results.hidden) return;
  hide();
  input.focus();
});
results.addEventListener('click', hide);
document.addEventListener('click', ({ target }) => {
  if (!(target as Element).closest('search')) hide();
});
