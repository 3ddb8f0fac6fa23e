import { describe, expect, it } from 'vitest';
import { chooseLocale, locales } from './locale.ts';
import { type MailLook, renderMail, renderSms } from './templates.ts';
import type { MessageContent } from './wording.ts';

const at = '2027-02-03T04:05:00.000Z';
const contents: MessageContent[] = [
  { template: 'sign-in-code', app: 'Acme', code: '012345', minutes: 5 },
  { template: 'factor-code', app: 'Acme', code: '012345', minutes: 5 },
  { template: 'phone-code', app: 'Acme', code: '012345', minutes: 5 },
  { template: 'phone-changed', app: 'Acme', ending: '0143', at },
  { template: 'login-changed', app: 'Acme', change: 'both', at },
  { template: 'new-device', app: 'Acme', device: 'Firefox on Windows', at },
  ...(['added', 'replaced', 'removed'] as const).flatMap((change) =>
    (['email', 'sms', 'totp'] as const).map(
      (method): MessageContent => ({ template: 'factor-changed', app: 'Acme', change, method, at }),
    ),
  ),
  { template: 'recovery-code-used', app: 'Acme', left: 9, at },
  { template: 'recovery-codes-renewed', app: 'Acme', at },
];
const cases = locales.flatMap((locale) => contents.map((content) => [locale, content.template, content] as const));

describe('a message', () => {
  it.each(cases)('in %s: %s is complete in text, HTML and SMS', (locale, _, content) => {
    const { subject, text, html } = renderMail(content, locale);
    for (const part of [subject, text, html, renderSms(content, locale)]) {
      expect(part).not.toMatch(/undefined|null|NaN|\{|\}|\[object/);
      expect(part).toContain('Acme');
    }
    expect(html).toContain(`<html lang="${locale}" dir="${/^(ar|he)/.test(locale) ? 'rtl' : 'ltr'}">`);
    const digits = (part: string) => part.match(/(?<!\d)\d{6}(?!\d)/g) ?? [];
    if ('code' in content) {
      // Readers and phones' code detection find exactly one code.
      expect(digits(text)).toEqual(['012345']);
      expect(digits(html.replace(/<title>.*<\/title>/, ''))).toEqual(['012345']);
      expect(digits(renderSms(content, locale))).toEqual(['012345']);
      expect(subject.startsWith('012345')).toBe(true);
    } else expect(digits(text)).toEqual([]);
    expect(text).not.toMatch(/https?:/);
  });

  it('keeps each name in its line', () => {
    const passkey = 'Key\n\nWas this not you?\u2029Go to evil.example.';
    const at = '2026-07-01T08:00:00Z';
    const { text } = renderMail({ template: 'passkey-changed', app: 'Acme', change: 'removed', passkey, at }, 'en');
    expect(text).toContain('\n\nPasskey: Key Was this not you? Go to evil.\u2060example.\n\nTime: ');
  });

  it.each([
    'evil.example',
    'evil.example/login',
    'https://evil.example',
    '203.0.113.9',
    'a@evil.example',
    'evil。example',
  ])('keeps mail clients from linking the name %s, and reads the same', (app) => {
    const look = { name: app, accent: null, words: { 'sign-in-code': { intro: 'Welcome to {app} by {project}' } } };
    const content = { template: 'sign-in-code', app, code: '012345', minutes: 5 } as const;
    const { subject, text, html } = renderMail(content, 'en', look);
    const sms = renderSms(content, 'en');
    for (const part of [text, html.replace(/<title>.*<\/title>|style="[^"]*"/g, ''), sms]) {
      expect(part).not.toMatch(/[.。]\w|:\/\//);
      expect(part.replaceAll('\u2060', '')).toContain(app);
    }
    expect(subject).toContain(app);
  });

  it('keeps its own link whole, beside a name with the same host', () => {
    const url = 'https://id.example.com/account?a=b.c';
    const { text, html } = renderMail(
      { template: 'invitation', app: 'id.example.com', url, at: '2026-01-01T00:00:00Z' },
      'en',
    );
    expect(text).toContain(url);
    expect(html).toContain(url);
    expect(text.replace(url, '')).not.toContain('id.example.com');
  });

  it.each(['ar', 'he'] as const)('in %s isolates names, but neither codes nor links', (locale) => {
    const code = renderMail({ template: 'sign-in-code', app: 'Acme', code: '012345', minutes: 5 }, locale);
    expect(code.html).toContain('dir="rtl"');
    expect(code.subject).toMatch(/^012345 [^0-9]+\u2068Acme\u2069/);
    expect(code.text.split('\n\n')).toContain('012345');
    const url = 'https://id.example.com/account';
    const { text } = renderMail({ template: 'invitation', app: 'Acme', url, at }, locale);
    expect(text.split('\n\n').find((line) => line.includes(url))).toMatch(new RegExp(`: ${url}$`));
  });

  it('escapes names in HTML and headers', () => {
    const app = 'Evil\r\nBcc: all@example.com <script>alert("1")</script>';
    const { subject, html } = renderMail({ template: 'sign-in-code', app, code: '012345', minutes: 5 }, 'en');
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;');
  });
});

const long = (template: 'sign-in-code' | 'factor-code' | 'phone-code') =>
  ({ template, app: 'Acme', code: '0123456789', minutes: 5 }) as const;

describe.each(locales)('a code of ten characters in %s', (locale) => {
  it.each(['sign-in-code', 'factor-code', 'phone-code'] as const)('is two groups of five in a mail: %s', (template) => {
    const { subject, text, html } = renderMail(long(template), locale);
    expect(subject.startsWith('01234-56789')).toBe(true);
    expect(text.split('\n\n')).toContain('01234-56789');
    expect(html).toContain('>01234-56789</p>');
    for (const part of [subject, text, html]) {
      expect(part).not.toContain('0123456789');
      // Phones' detection of six-digit codes must not match.
      expect(part).not.toMatch(/\d{6}/);
    }
  });

  it('is one word in an SMS, for autofill', () => {
    expect(renderSms(long('factor-code'), locale)).toMatch(/^0123456789(?![\w-])/);
  });
});

describe('a code of ten characters in a project’s custom texts', () => {
  it('is two groups of five', () => {
    const words = { 'sign-in-code': { subject: '{code} for you', intro: 'Enter {code}' } };
    const { subject, text } = renderMail(long('sign-in-code'), 'en', { name: 'Acme', accent: null, words });
    expect(subject).toBe('01234-56789 for you');
    expect(text).toContain('Enter 01234-56789');
  });
});

describe('a mail of a project', () => {
  const look: MailLook = {
    name: 'Acme <b>',
    accent: '#123456',
    words: { 'sign-in-code': { subject: '{project}: {code}', intro: 'Hello from {app} {app}, {code}' } },
  };
  const content = { template: 'sign-in-code', app: '{code}', code: '012345', minutes: 5 } as const;

  it('shows its name, color and texts, escaped and without evaluating placeholders in them', () => {
    const { subject, text, html } = renderMail(content, 'en', look);
    expect(subject).toBe('Acme <b>: 012345');
    expect(text).toContain('Hello from {code} {code}');
    expect(html).toContain('Acme &lt;b&gt;</p>');
    expect(html).toContain('background:rgb(18,52,86)');
    expect(text).toContain('It expires in 5 minutes');
  });

  it.each([
    ['{app}://evil.example/a', 'https', 'Acme'],
    ['Go to http{project}', 'App', '://evil.example/a'],
    ['See {project}{app}', '.evil.example', 'www'],
    ['{app}4', '00123', 'Acme'],
  ])('uses the standard text for %s with the names %s and %s: they form a link or a code', (custom, app, name) => {
    const words = { 'sign-in-code': { subject: `{code} ${custom}`, intro: custom } };
    const named = { ...content, app };
    const standard = renderMail(named, 'en', { name, accent: null, words: {} });
    expect(renderMail(named, 'en', { name, accent: null, words })).toEqual(standard);
  });

  it('uses the standard texts if it has none, and in every other message', () => {
    const own = renderMail({ template: 'recovery-codes-renewed', app: 'App', at: '2026-01-01T00:00:00Z' }, 'en', look);
    expect(own.subject).toBe('New recovery codes for App');
    const renamed = renderMail(content, 'en', { ...look, name: 'Two\r\nlines' });
    expect(renamed.subject).toBe('Two lines: 012345');
  });
});

describe('the language of a message', () => {
  it.each([
    [null, undefined, 'en'],
    ['', 'de', 'de'],
    [null, 'de-CH,fr;q=0.8', 'de'],
    [null, 'xx, fr;q=0.2, ja;q=0.9', 'ja'],
    [null, 'de;q=0, es', 'es'],
    ['fr-CA de', 'ja', 'fr'],
    ['tlh', 'ja', 'ja'],
    [null, 'x'.repeat(10_000), 'en'],
    [null, ';q=,,,;;', 'en'],
    [null, 'pt-PT,pt;q=0.9,es;q=0.8', 'pt-BR'],
    ['no', undefined, 'nb'],
    [null, 'nn-NO', 'nb'],
    ['iw-IL', 'en', 'he'],
    ['zh', undefined, 'zh-Hans'],
    ['zh-CN', undefined, 'zh-Hans'],
    [null, 'zh-SG', 'zh-Hans'],
    ['zh-Hans-HK', undefined, 'zh-Hans'],
    [null, 'zh-TW,zh-Hant;q=0.9,ja;q=0.8', 'ja'],
    ['zh-HK', 'zh;q=0.9, ko;q=0.5', 'zh-Hans'],
    [null, 'ar-EG', 'ar'],
  ])('for ui_locales %j and Accept-Language %j is %s', (uiLocales, header, locale) => {
    expect(chooseLocale(uiLocales, header)).toBe(locale);
  });
});
