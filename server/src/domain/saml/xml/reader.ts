import { SamlError } from '../saml-error.ts';
import type { Attribute, Element } from './element.ts';

/** Bounds of a document. Its size is a bound of the caller's body as well. */
const limits = { bytes: 256 * 1024, depth: 32, elements: 2000, attributes: 32, namespaces: 64 } as const;

/** Metadata of large service providers. */
const metadataLimits = { bytes: 512 * 1024, depth: 32, elements: 5000, attributes: 32, namespaces: 64 } as const;

/** Assertions of our own may list all groups of a user. */
const ownLimits = { bytes: 8 * 1024 * 1024, depth: 32, elements: 50_000, attributes: 32, namespaces: 64 } as const;

const xmlNs = 'http://www.w3.org/XML/1998/namespace';
const xmlnsNs = 'http://www.w3.org/2000/xmlns/';

export interface ReadOptions {
  /** Comments between elements are skipped. Those beside text are refused everywhere. */
  isMetadata?: boolean;
  /** Written here. */
  isOwn?: boolean;
}

/**
 * Reads the XML that SAML needs: elements, attributes, text. Everything else is refused before the first element is read: DTD,
 * entities, processing instructions, CDATA, comments, encodings other than UTF-8.
 */
export function read(bytes: Uint8Array | string, options: ReadOptions = {}): Element {
  const bounds = boundsOf(options);
  if (bytes.length > bounds.bytes) throw new SamlError('too-large', `more than ${bounds.bytes} bytes`);
  return new Reader(prologless(decoded(bytes), options), bounds, options).document();
}

type Bounds = typeof limits | typeof metadataLimits | typeof ownLimits;

function boundsOf({ isMetadata, isOwn }: ReadOptions): Bounds {
  if (isOwn) return ownLimits;
  return isMetadata ? metadataLimits : limits;
}

function decoded(bytes: Uint8Array | string): string {
  if (typeof bytes === 'string') return bytes;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SamlError('malformed', 'not UTF-8');
  }
}

const declaration =
  /^<\?xml version=(?:"1\.0"|'1\.0')(?: encoding=(?:"utf-8"|'utf-8'))?(?: standalone=(?:"(?:yes|no)"|'(?:yes|no)'))? ?\?>/i;

/** XML 1.0 section 2.2, and the control characters that it discourages. */
const forbidden = /(?![\t\n])\p{Cc}|[\uFFFE\uFFFF]/u;

/** The document without its XML declaration. Refuses everything but elements and text. */
function prologless(source: string, { isMetadata }: ReadOptions): string {
  // XML 1.0 section 2.11.
  const body = source.replace(declaration, '').replace(/\r\n?/g, '\n').trim();
  if (body.includes('<?')) throw new SamlError('forbidden-markup', 'processing instruction');
  const comments = isMetadata ? body.replaceAll('<!--', '') : body;
  if (comments.includes('<!')) throw new SamlError('forbidden-markup', 'DTD, CDATA or comment');
  if (forbidden.test(body) || !body.isWellFormed()) {
    throw new SamlError('malformed', 'forbidden character');
  }
  return body;
}

const namePattern = /(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)/y;
const attributePattern =
  /[ \t\n]+(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)[ \t\n]*=[ \t\n]*(?:"([^"<]*)"|'([^'<]*)')/y;
const tagEnd = /[ \t\n]*(\/?)>/y;

interface OpenElement extends Element {
  children: (Element | string)[];
  hasComment?: boolean;
}

class Reader {
  private at = 0;
  private count = 0;

  constructor(
    private readonly source: string,
    private readonly bounds: Bounds,
    private readonly options: ReadOptions,
  ) {}

  document(): Element {
    this.skipComments();
    if (this.source[this.at] !== '<') throw new SamlError('malformed', 'no element');
    const { element: root, isEmpty } = this.startTag(undefined);
    const open: OpenElement[] = isEmpty ? [] : [root];
    for (let parent = open.at(-1); parent; parent = open.at(-1)) {
      const next = this.source.indexOf('<', this.at);
      if (next < 0) throw new SamlError('malformed', 'unclosed element');
      if (next > this.at) parent.children.push(unescaped(this.source.slice(this.at, next)));
      this.at = next;
      if (this.source.startsWith('<!--', this.at)) {
        parent.hasComment = true;
        this.skipComment();
      } else if (this.source.startsWith('</', this.at)) {
        this.endTag(parent);
        open.pop();
      } else {
        const { element, isEmpty: isClosed } = this.startTag(parent);
        parent.children.push(element);
        if (!isClosed && open.push(element) > this.bounds.depth) throw new SamlError('too-large', 'depth');
      }
    }
    this.skipComments();
    if (this.at !== this.source.length) throw new SamlError('malformed', 'text after the document');
    return root;
  }

  private skipComments(): void {
    while (this.options.isMetadata && this.source.startsWith('<!--', this.at)) {
      this.skipComment();
      this.matched(/[ \t\n]*/y);
    }
  }

  private skipComment(): void {
    const end = this.source.indexOf('-->', this.at + 4);
    if (end < 0) throw new SamlError('malformed', 'unclosed comment');
    this.at = end + 3;
  }

  private matched(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private startTag(parent: Element | undefined): { element: OpenElement; isEmpty: boolean } {
    if (++this.count > this.bounds.elements) throw new SamlError('too-large', 'elements');
    this.at++;
    const tag = this.matched(namePattern);
    if (!tag) throw new SamlError('malformed', 'element name');
    const raw: { prefix: string; name: string; value: string }[] = [];
    for (let found = this.matched(attributePattern); found; found = this.matched(attributePattern)) {
      const value = unescaped((found[3] ?? found[4] ?? '').replace(/[\t\n]/g, ' '));
      raw.push({ prefix: found[1] ?? '', name: found[2] ?? '', value });
      if (raw.length > this.bounds.attributes) throw new SamlError('too-large', 'attributes');
    }
    const end = this.matched(tagEnd);
    if (!end) throw new SamlError('malformed', 'start tag');
    const scope = scopeOf(raw, parent?.scope ?? new Map([['xml', xmlNs]]));
    // Each declaration copies those of its ancestors.
    if (scope.size > this.bounds.namespaces) throw new SamlError('too-large', 'namespaces');
    const attributes = raw.filter((one) => !isDeclaration(one)).map((one) => ({ ...one, ns: nsOf(one, scope) }));
    refuseTwins(attributes);
    const [prefix, name] = [tag[1] ?? '', tag[2] ?? ''];
    if (prefix === 'xmlns') throw new SamlError('malformed', 'namespace');
    const ns = prefix === '' ? (scope.get('') ?? '') : nsOf({ prefix }, scope);
    return { element: { prefix, name, ns, attributes, scope, children: [] }, isEmpty: end[1] === '/' };
  }

  private endTag(open: OpenElement): void {
    this.at += 2;
    const tag = this.matched(namePattern);
    const closes = tag && (tag[1] ?? '') === open.prefix && tag[2] === open.name;
    if (!closes || this.matched(tagEnd)?.[1] !== '') throw new SamlError('malformed', 'end tag');
    if (open.hasComment && open.children.some((one) => typeof one === 'string' && one.trim() !== '')) {
      throw new SamlError('forbidden-markup', 'comment in text');
    }
  }
}

function isDeclaration({ prefix, name }: { prefix: string; name: string }): boolean {
  return prefix === 'xmlns' || (prefix === '' && name === 'xmlns');
}

/** Namespaces in XML 1.0 section 3. */
function scopeOf(
  attributes: readonly { prefix: string; name: string; value: string }[],
  outer: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const declared = attributes.filter(isDeclaration);
  if (declared.length === 0) return outer;
  const own = new Map<string, string>();
  for (const { prefix, name, value } of declared) {
    const bound = prefix === '' ? '' : name;
    const isReserved = bound === 'xml' || bound === 'xmlns' || value === xmlNs || value === xmlnsNs;
    if (isReserved || own.has(bound) || (bound !== '' && value === '')) throw new SamlError('malformed', 'namespace');
    own.set(bound, value);
  }
  return new Map([...outer, ...own]);
}

function nsOf({ prefix }: { prefix: string }, scope: ReadonlyMap<string, string>): string {
  if (prefix === '') return '';
  const ns = scope.get(prefix);
  if (ns === undefined) throw new SamlError('malformed', 'unknown prefix');
  return ns;
}

function refuseTwins(attributes: readonly Attribute[]): void {
  const names = new Set(attributes.map(({ ns, name }) => `${ns} ${name}`));
  if (names.size !== attributes.length) throw new SamlError('malformed', 'attribute given twice');
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Text with its character references replaced. Other entities do not exist without a DTD. */
function unescaped(source: string): string {
  if (source.includes(']]>')) throw new SamlError('malformed', ']]> in text');
  if (!source.includes('&')) return source;
  return source.replace(/&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));|&/g, (_, hex, decimal, name) => {
    if (name !== undefined && Object.hasOwn(named, name)) return named[name] ?? '';
    const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
    if (!isXmlCharacter(code)) throw new SamlError('malformed', 'character or entity reference');
    return String.fromCodePoint(code);
  });
}

function isXmlCharacter(code: number): boolean {
  if (code === 0x9 || code === 0xa || code === 0xd) return true;
  return (
    (code >= 0x20 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
  );
}
