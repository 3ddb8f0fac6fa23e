import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import type { Brand } from '../domain/experience/content.ts';
import { brandedHead, brandedTexts, pageFooter, pageHeader } from './brand.ts';
import { requestContext } from './context.ts';
import { escapeHtml } from './html.ts';

/** The languages of the pages (BCP 47), the first where none fits. */
const pageLanguages = ['en', 'de', 'es', 'fr', 'ja'] as const;
export type PageLanguage = (typeof pageLanguages)[number];

export interface PageContent {
  /** For `%{name}`, escaped. */
  values?: Record<string, string>;
  /** For `%{name}` that is HTML made here. */
  html?: Record<string, string>;
  /** Where a form of the page may lead besides here (CSP `form-action`), redirects included. */
  formTargets?: string[];
  /** `ui_locales` of the request, before what the browser says. */
  uiLocales?: string | undefined;
  status?: number;
  /** Whose page it is; absent: of nobody in particular. */
  brand?: ((language: PageLanguage) => Brand) | undefined;
  /** To be looked at inside the console: it may stand in a frame of our own, and its forms lead nowhere. */
  isPreview?: boolean;
}

/** The console is not built where this stands. */
export class PageMissingError extends Error {}

/**
 * The pages that need no application of their own (sign-in, errors, logout): HTML that the console's build leaves, with
 * `%{name}` for values and `%{t:key}` for texts in the reader's language, which may hold `{name}` of a value.
 */
export class Pages {
  private readonly folder: string;
  private readonly files = new Map<string, { changedAt: number; content: unknown }>();

  /** @param folder the build: `signin/<page>.html`, `messages/<language>.json`, `assets/` */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Answers with a page, under a policy that lets nothing in but our own files. Throws {@link PageMissingError}. */
  send(req: Request, res: Response, page: string, content: PageContent = {}): void {
    const language = this.language(req, content.uiLocales);
    res.status(content.status ?? 200);
    res.setHeader('Content-Security-Policy', content.isPreview ? previewPolicy : policy(content.formTargets ?? []));
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Referrer-Policy', 'no-referrer');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('X-Frame-Options', content.isPreview ? 'SAMEORIGIN' : 'DENY');
    res.vary('Accept-Language');
    res.type('html').send(this.fill(page, language, requestContext(req).requestId, content));
  }

  /** A text in the reader's language, its `{name}` filled and not escaped. */
  text(req: Request, key: string, values: Record<string, string> = {}, uiLocales?: string): string {
    return this.lookUp(this.language(req, uiLocales), key, values);
  }

  language(req: Request, uiLocales?: string): PageLanguage {
    const wished = (uiLocales ?? '').split(' ').map((tag) => tag.toLowerCase().split('-')[0]);
    const [first] = wished.flatMap((tag) => pageLanguages.filter((language) => language === tag));
    return first ?? ((req.acceptsLanguages([...pageLanguages]) || 'en') as PageLanguage);
  }

  private fill(
    page: string,
    language: PageLanguage,
    requestId: string,
    { values = {}, html = {}, brand: brandIn, isPreview }: PageContent,
  ): string {
    const brand = brandIn?.(language) ?? null;
    const all: Record<string, string> = {
      lang: language,
      dir: 'ltr',
      request_id: requestId,
      support_id: requestId,
      messages: `/messages/${language}.json`,
      ...values,
      ...(brand && { project_name: brand.name }),
    };
    const names = { app: all['client_name'] ?? '', project: all['project_name'] ?? '' };
    const own = brandedTexts(brand);
    const say = (key: string) => this.lookUp(language, key, names, own);
    const made: Record<string, string> = {
      header: pageHeader(brand, names.app),
      footer: pageFooter(brand, names, say),
      ...html,
    };
    const filled = this.template(page).replace(
      /%\{(t:)?([\w.-]+)\}/g,
      (_whole, isText: string | undefined, name: string) =>
        isText ? escapeHtml(say(name)) : (made[name] ?? escapeHtml(all[name] ?? '')),
    );
    const dressed = filled.replace('</head>', () => `${brandedHead(brand)}</head>`);
    // In a frame it would scroll the page around it.
    return isPreview ? dressed.replace(/(<input[^>]*) autofocus/g, '$1') : dressed;
  }

  private lookUp(
    language: PageLanguage,
    key: string,
    values: Record<string, string>,
    own: Record<string, string | undefined> = {},
  ): string {
    const text = own[key] ?? this.messages(language)[key] ?? this.messages('en')[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  }

  private template(page: string): string {
    return this.read(join('signin', `${page}.html`), (text) => text);
  }

  private messages(language: PageLanguage): Record<string, string> {
    return this.read(join('messages', `${language}.json`), (text) => JSON.parse(text) as Record<string, string>);
  }

  /** Read again when the file has changed: a page of an earlier build would name assets that are gone. */
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

/** True for a browser on its way to a page; a program that takes anything gets JSON. */
export function wantsPage(req: Request): boolean {
  return req.accepts(['json', 'html']) === 'html';
}

function policy(formTargets: string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** Of a page that holds no flow: nobody can sign in by it, and no form of it leaves. */
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
