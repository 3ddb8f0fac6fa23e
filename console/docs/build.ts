/** Renders the Markdown of the repository into the pages of `/docs`. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { Section } from './search.ts';

interface DocsPage {
  /** Last part of its address; empty for the first page. */
  name: string;
  title: string;
  html: string;
  markdown: string;
}

export interface Docs {
  pages: DocsPage[];
  search: Section[];
  /** Index for language models. */
  llms: string;
}

/** Pages beside those of `server/docs`, by their files. */
const more = {
  'server/config.md': 'config',
  'shared/browser/README.md': 'browser-sdk',
  'shared/react/README.md': 'react-sdk',
  'shared/node/README.md': 'node-sdk',
};

/** @param root folder of the repository, with a trailing slash */
export function buildDocs(root: string): Docs {
  const read = (path: string) => readFileSync(root + path, 'utf8');
  const folder = 'server/docs';
  const own = readdirSync(root + folder).filter((file) => file.endsWith('.md'));
  // In the order of the first page.
  const order = [...read(`${folder}/README.md`).matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, file]) => file as string);
  own.sort((one, other) => order.indexOf(one) - order.indexOf(other));
  const names = new Map<string, string>([
    ...own.map((file) => [`${folder}/${file}`, file === 'README.md' ? '' : file.replace('.md', '')] as const),
    ...Object.entries(more),
  ]);
  const titles = new Map([...names].map(([path, name]) => [name, /^# (.+)$/m.exec(read(path))?.[1] ?? name]));
  const built = [...names].map(([path, name]) => render(path, name, read(path), { names, titles }));
  return {
    pages: built.map(({ page }) => page),
    search: built.flatMap(({ sections }) => sections).map((one) => ({ ...one, text: wordsOf(one.text) })),
    llms: served(read(`${folder}/llms.txt`), `${folder}/llms.txt`, names).replace(/^Links are relative.*\n\n/m, ''),
  };
}

type Names = ReadonlyMap<string, string>;

interface Repository {
  names: Names;
  /** Titles of pages, by their names. */
  titles: ReadonlyMap<string, string>;
}

/** The address of a linked file below `/docs`; null if it is not a page. */
function addressOf(href: string, from: string, names: Names): string | null {
  if (/^https?:/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const path = file === '' ? from : posix.join(posix.dirname(from), file);
  const name = names.get(path);
  if (name === undefined) return null;
  return `/docs${name && `/${name}`}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Each word once. */
const wordsOf = (text: string) => [...new Set(text.split(/\s+/))].join(' ');

/** As GitHub makes them. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one);

function render(path: string, name: string, markdown: string, { names, titles }: Repository) {
  const sections: Section[] = [];
  const address = `/docs${name && `/${name}`}`;
  let page = '';
  const add = (text: string) => {
    const last = sections.at(-1);
    if (last) last.text += `${text.toLowerCase()} `;
  };
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'heading') {
        const title = plain(token as Tokens.Heading);
        page ||= title;
        const anchor = (token as Tokens.Heading).depth === 1 ? '' : `#${anchorOf(title)}`;
        sections.push({ path: address + anchor, page, title, text: '' });
      } else if (token.type === 'text' && !('tokens' in token && token.tokens)) add(token.text);
      else if (token.type === 'code' || token.type === 'codespan') add(token.text);
    },
    renderer: {
      heading(token) {
        const id = token.depth === 1 ? '' : ` id="${escaped(anchorOf(plain(token)))}"`;
        return `<h${token.depth}${id}>${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
      },
      link({ href, text: label, tokens }) {
        const to = addressOf(href, path, names);
        // A link that shows the name of its file shows the title of its page.
        const title = /^[\w-]+\.md$/.test(label)
          ? titles.get(to?.split('#')[0]?.replace(/^\/docs\/?/, '') ?? '-')
          : undefined;
        const text = title === undefined ? this.parser.parseInline(tokens) : escaped(title.replace(/`/g, ''));
        return to === null ? text : `<a href="${escaped(to)}">${text}</a>`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
      table(token) {
        const cell = (tag: string, { tokens }: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const row = (tag: string, cells: Tokens.TableCell[]) =>
          `<tr>${cells.map((one) => cell(tag, one)).join('')}</tr>`;
        const body = token.rows.map((cells) => row('td', cells)).join('');
        return `<div class="table" tabindex="0"><table><thead>${row('th', token.header)}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      // Comments of generators; no page has other HTML.
      html: ({ text }) => (/^\s*<!--/.test(text) ? '' : escaped(text)),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { page: { name, title: page, html, markdown: served(markdown, path, names) }, sections };
}

const plain = ({ text }: Tokens.Heading) => text.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Markdown whose links lead to pages in Markdown; links to other files become text. */
function served(markdown: string, from: string, names: Names): string {
  return markdown
    .replace(/^<!--.*-->\n\n?/gm, '')
    .replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, text: string, href: string) => {
      const to = addressOf(href, from, names);
      if (to === null) return text;
      const [path = '', anchor] = to.split('#');
      if (!path.startsWith('/docs')) return whole;
      return `[${text}](${path === '/docs' ? '/docs/README' : path}.md${anchor === undefined ? '' : `#${anchor}`})`;
    });
}
