import { describe, expect, it } from 'vitest';
import { Refusal } from '../kernel/problem.ts';
import { brandIn, checkColor, checkContent, plainContent } from './content.ts';

const faultOf = (input: Parameters<typeof checkContent>[0]) => {
  try {
    checkContent(input);
  } catch (error) {
    return error instanceof Refusal ? error.problem : error;
  }
};
const text = (key: string, value: string, locale = 'en') => ({ texts: [{ locale, key, text: value }] });

describe('the content of an experience', () => {
  it.each([
    ['#2F55D4', '#2f55d4'],
    ['25d', '#2255dd'],
    [' #abcdef ', '#abcdef'],
  ])('normalizes the color %s', (color, kept) => expect(checkColor(color)).toBe(kept));

  it.each(['red', '#12345', '#1234567', 'rgb(1,2,3)', '#2f55d4;}body{display:none', 'javascript:alert(1)', '#ggg'])(
    'refuses the color %s',
    (accent) => expect(faultOf({ accent })).toMatchObject({ code: 'invalid', field: 'accent' }),
  );

  it.each([
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'http://example.com/help',
    '//example.com',
    '/help',
    'https://user:pw@example.com',
    'https://exa mple.com',
    'https://example.com/"onmouseover="x',
    'https://',
  ])('refuses the link %s', (address) => {
    expect(faultOf(text('supportUrl', address))).toMatchObject({ code: 'invalid', field: 'texts.en.supportUrl' });
  });

  it.each([
    ['heading', 'x'.repeat(81), /at most 80/],
    ['heading', 'two\nlines', /one line/],
    ['heading', 'turned \u202e around', /one line/],
    ['heading', 'Hello {name}', /\{app\}, \{project\}/],
    ['heading', 'your code {code}', /nothing else/],
    ['sign-in-code.intro', 'Click https://evil.example', /must not contain a URL/],
    ['sign-in-code.subject', 'Code 123456', /six digits/],
  ])('refuses the text %s: %s', (key, value, reason) => {
    expect(faultOf(text(key, value))).toMatchObject({ reason: expect.stringMatching(reason) });
  });

  it('refuses undeclared keys and languages', () => {
    for (const key of ['page.title', '__proto__', 'constructor']) {
      expect(faultOf(text(key, 'x'))).toMatchObject({ field: 'texts.key' });
    }
    expect(faultOf(text('heading', 'x', 'tlh'))).toMatchObject({ field: 'texts.locale' });
  });

  it('drops empty texts', () => {
    const input = { displayName: ' ', accent: '', logoId: null, ...text('heading', '  ') };
    expect(checkContent(input)).toEqual(plainContent);
  });

  it('falls back to English only for links and the footer', () => {
    const texts = { en: { heading: 'Hello', supportUrl: 'https://a.example' }, de: { footer: 'Fuß' } };
    const brand = brandIn({ ...plainContent, displayName: 'Acme', texts }, 'Project', 'de');
    expect(brand).toMatchObject({ name: 'Acme', logo: null });
    expect(brand.texts).toEqual({ supportUrl: 'https://a.example', footer: 'Fuß' });
    expect(brandIn(plainContent, 'Project', 'de').name).toBe('Project');
  });
});
