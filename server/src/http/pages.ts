import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { formatMessage } from '../domain/delivery/icu.ts';
import { chooseLocale, directionOf, type Locale, localeOf } from '../domain/delivery/locale.ts';
import type { Brand } from '../domain/experience/content.ts';
import { brandedHead, brandedTexts, pageFooter, pageHeader } from './brand.ts';
import { requestContext } from './context.ts';
import { escapeHtml } from './html.ts';

export type PageLanguage = Locale;

export interface PageContent {
  /** Values for `%{name}`; escaped. */
  values?: Record<string, string>;
  /** Texts to show in place of others, by key. The project's own wording of the others does not apply. */
  texts?: Record<string, string> | undefined;
  /** Trusted HTML for `%{name}`; not escaped. */
  html?: Record<string, string>;
  /**
   * True if a form leads to an application. Such a page has no `form-action`: browsers apply it to every redirect that
   * follows, and the application may redirect to any other site.
   */
  leadsToApplication?: boolean;
  /** True if the page has frames of applications, which may redirect to any other site. */
  framesApplications?: boolean;
  /** True for a page that is shown in a frame of our own. */
  isFramed?: boolean;
  /** `ui_locales` of the request; takes precedence over Accept-Language. */
  uiLocales?: string | undefined;
  status?: number;
  /** Branding of the project; undefined: Latchkey's own. */
  brand?: ((language: PageLanguage) => Brand) | undefined;
  /** Preview in the console: same-origin framing is allowed, forms are blocked. */
  isPreview?: boolean;
}

/** The console has not been built. */
export class PageMissingError extends Error {}

/**
 * Server-rendered pages (sign-in, errors, logout). Templates come from the console build: `%{name}` is a value, `%{t:key}` a
 * text in the reader's language, in which `{name}` is a value.
 */
export class Pages {
  private readonly folder: string;
  private readonly files = new Map<string, { changedAt: number; content: unknown }>();

  /** @param folder build output with `signin/<page>.html`, `messages/<language>.json` and `assets/` */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Sends a page with a CSP that allows only our own files. Throws {@link PageMissingError}. */
  send(req: Request, res: Response, page: string, content: PageContent = {}): void {
    const language = this.language(req, content.uiLocales);
    res.status(content.status ?? 200);
    res.setHeader('Content-Security-Policy', content.isPreview ? previewPolicy : policy(content));
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Referrer-Policy', 'no-referrer');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('X-Frame-Options', content.isPreview || content.isFramed ? 'SAMEORIGIN' : 'DENY');
    res.vary('Accept-Language');
    res.type('html').send(this.fill(page, language, requestContext(req).requestId, content));
  }

  /** A text in the reader's language with its `{name}` placeholders filled; not escaped. */
  text(req: Request, key: string, values: Record<string, string> = {}, uiLocales?: string): string {
    return this.lookUp(this.language(req, uiLocales), key, values);
  }

  language(req: Request, uiLocales?: string): PageLanguage {
    return chooseLocale(uiLocales, req.get('accept-language'));
  }

  /** The reader's language with the region of `uiLocales`, else of the browser, e.g. `en-GB`: for dates and times. */
  locale(req: Request, uiLocales?: string): string {
    const language = this.language(req, uiLocales);
    const isRegional = (tag: string) => /^[a-z]{2}-([a-z]{2}|\d{3})$/i.test(tag) && localeOf(tag) === language;
    const tags = [...(uiLocales ?? '').split(' '), ...req.acceptsLanguages()];
    return tags.find(isRegional) ?? language;
  }

  private fill(
    page: string,
    language: PageLanguage,
    requestId: string,
    { values = {}, texts = {}, html = {}, brand: brandIn, isPreview }: PageContent,
  ): string {
    const brand = brandIn?.(language) ?? null;
    const all: Record<string, string> = {
      lang: language,
      dir: directionOf(language),
      request_id: requestId,
      support_id: requestId,
      messages: `/messages/${language}.json`,
      ...values,
      ...(brand && { project_name: brand.name }),
    };
    const names = {
      app: all['client_name'] ?? '',
      project: all['project_name'] ?? '',
      connection: all['connection_name'] ?? '',
    };
    const own = brandedTexts(brand);
    const t = (key: string) => this.lookUp(language, texts[key] ?? key, names, own);
    const made: Record<string, string> = {
      header: pageHeader(brand, names.app),
      footer: pageFooter(brand, names, t),
      ...html,
    };
    const filled = this.template(page).replace(
      /%\{(t:)?([\w.-]+)\}/g,
      (_whole, isText: string | undefined, name: string) =>
        isText ? escapeHtml(t(name)) : (made[name] ?? escapeHtml(all[name] ?? '')),
    );
    const branded = filled.replace('</head>', () => `${brandedHead(brand)}</head>`);
    // Autofocus inside a frame would scroll the parent page.
    return isPreview ? branded.replace(/(<input[^>]*) autofocus/g, '$1') : branded;
  }

  private lookUp(
    language: PageLanguage,
    key: string,
    values: Record<string, string>,
    own: Record<string, string | undefined> = {},
  ): string {
    const text = own[key] ?? this.messages(language)[key] ?? this.messages('en')[key] ?? key;
    return formatMessage(text, language, directionOf(language) === 'rtl' ? isolated(values) : values);
  }

  private template(page: string): string {
    return this.read(join('signin', `${page}.html`), (text) => text);
  }

  private messages(language: PageLanguage): Record<string, string> {
    return this.read(join('messages', `${language}.json`), (text) => JSON.parse(text) as Record<string, string>);
  }

  /** Cached by mtime: after a new build, the old page would refer to assets that no longer exist. */
  private read<T>(file: string, parse: (text: string) => T): T {
    const path = join(this.folder, file);
    try {
      const changedAt = statSync(path).mtimeMs;
      const known = this.files.get(file);
      if (known?.changedAt === changedAt) return known.content as T;
      const content = parse(readFileSync(path, 'utf8'));
      this.files.set(file, { changedAt, content });
      return content;
    } catch (cause) {
      throw new PageMissingError(`${file} is missing: build the console first`, { cause });
    }
  }
}

/** Values in a right-to-left sentence are isolated: they would change the order of the words around them (UAX #9). */
function isolated(values: Record<string, string>): Record<string, string> {
  // The plural forms need the numbers.
  const isolate = (value: string) => (/^\d+$/.test(value) ? value : `\u2068${value}\u2069`);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isolate(value)]));
}

/** True if the client prefers HTML; clients that accept anything get JSON. */
export function wantsPage(req: Request): boolean {
  return req.accepts(['json', 'html']) === 'html';
}

function policy({ framesApplications, isFramed, leadsToApplication }: PageContent): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    ...(framesApplications ? ["frame-src 'self' http: https:"] : []),
    ...(leadsToApplication ? [] : ["form-action 'self'"]),
    `frame-ancestors '${isFramed ? 'self' : 'none'}'`,
    "base-uri 'none'",
  ].join('; ');
}

/** CSP of previews: forms are blocked, framing is same-origin. */
const previewPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
].join('; ');
