import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pageLanguages } from '../../../../.config/lib/page-languages.mjs';
import { LatchkeyError } from '../error.ts';
import type { SignInState } from '../flow/state.ts';
import { keys } from './keys.ts';
import { loaded, messages } from './messages.ts';
import { languageAmong, problemOf, translatorOf } from './texts.ts';

const hosted = (language: string) =>
  JSON.parse(readFileSync(new URL(`../../../../console/signin/messages/${language}.json`, import.meta.url), 'utf8'));

describe('texts of the web component', () => {
  it.each(Object.entries(messages))('in %s are those of the hosted page', (language, texts) => {
    expect(texts).toEqual(keys.map((key) => hosted(language)[key]));
  });

  it('are in every language, in the script or loaded from the instance', () => {
    expect([...Object.keys(messages), ...loaded]).toEqual(pageLanguages);
  });

  it('fill placeholders, and never expand a value', () => {
    expect(translatorOf({ language: 'en', texts: messages.en }, { app: '{project}' })('address.title')).toBe(
      'Sign in to {project}',
    );
  });
});

describe('the language', () => {
  it.each([
    ['pt-PT', 'pt-BR'],
    ['no', 'nb'],
    ['nn-NO', 'nb'],
    ['iw-IL', 'he'],
    ['zh', 'zh-Hans'],
    ['zh-Hans-HK', 'zh-Hans'],
    ['zh-TW', 'en'],
    ['zh-Hant-TW', 'en'],
    ['de-CH', 'de'],
    ['tlh', 'en'],
  ])('for %s is %s', (tag, language) => {
    expect(languageAmong([tag])).toBe(language);
  });

  it('is the next best for readers of traditional characters', () => {
    expect(languageAmong(['zh-HK', 'ko-KR', 'de'])).toBe('ko');
  });
});

describe('a problem', () => {
  const t = translatorOf({ language: 'en', texts: messages.en }, {});
  const messageOf = (
    code: string,
    state: Partial<SignInState>,
    category: 'fatal' | 'retryable' | 'user_action' = 'user_action',
    reason?: 'network',
  ) =>
    problemOf(
      new LatchkeyError(code, category, 'For developers.', { retryAfter: 90, reason }),
      state as SignInState,
      t,
    );

  it('has a message for the user, by step', () => {
    expect(messageOf('CODE_REJECTED', { step: 'recovery-code' })).toBe(
      'This recovery code is wrong or was already used.',
    );
    expect(messageOf('CODE_INCOMPLETE', { step: 'code', codeFormat: 'long' })).toBe('Enter all ten characters.');
    expect(messageOf('CODE_REJECTED', { step: 'code', method: 'totp' })).toContain('clock');
    expect(messageOf('RATE_LIMITED', { step: 'code' }, 'retryable')).toBe('Please wait 2 minutes, then try again.');
    expect(messageOf('RATE_LIMITED', { step: 'code' }, 'retryable', 'network')).toBe(
      'Too many codes were requested from your network. Please wait 2 minutes, or use another network, such as mobile data.',
    );
    expect(messageOf('SERVER_ERROR', { step: 'code' }, 'retryable')).toContain('on our side');
  });

  it('of the page has a message for its developer', () => {
    expect(messageOf('INVALID_API_KEY', { step: 'failed' }, 'fatal')).toBe('For developers.');
  });
});
