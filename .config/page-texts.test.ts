import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { formatMessage } from '../server/src/domain/delivery/icu.ts';

const polish = 'Kod wygaśnie za {n, plural, one {# minutę} few {# minuty} many {# minut} other {# minuty}}, {name}.';
const arabic =
  '{n, plural, zero {لا رموز} one {رمز واحد} two {رمزان} few {# رموز} many {# رمزًا} other {# رمز}} من {name}';

describe('an ICU message', () => {
  it.each([
    ['en', '{n, plural, =0 {none} one {# day for {name}} other {# days for {name}}} left'],
    ['pl', polish],
    ['ar', arabic],
    ['ja', '{name}: {n}'],
  ])('in %s reads as with the library', (language, text) => {
    const library = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
    for (const n of [0, 1, 2, 3, 5, 11, 22, 100, 102, 1234])
      expect(formatMessage(text, language, { n, name: 'Ada' })).toBe(library.format({ n, name: 'Ada' }));
  });

  it('never expands a value, and keeps an argument without one', () => {
    expect(formatMessage('{name} {other} {n, plural, one {#} other {#}}', 'en', { name: '{other} # {n}' })).toBe(
      '{other} # {n} {other} {n, plural, one {#} other {#}}',
    );
  });
});
