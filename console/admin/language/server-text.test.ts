import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatter } from './formatter.ts';
import { serverTranslator } from './server-text.ts';

const catalog = new URL('./messages/de.json', import.meta.url);
const german = serverTranslator(JSON.parse(readFileSync(catalog, 'utf8')), formatter('de'));

it.each([
  ['Must not be blank.', 'Darf nicht leer sein.'],
  ['Must have at most 100 characters.', 'Darf höchstens 100 Zeichen haben.'],
  ['Another group has this displayName already.', 'Schon vergeben: displayName (Gruppe).'],
  [
    'This is not allowed: it requires the role project_admin.',
    'Nicht erlaubt: Dafür ist die Rolle project_admin nötig.',
  ],
  ['This is not allowed: the application is not a match.', 'Nicht erlaubt: the application is not a match.'],
  ['Process 7 on host-1 is 2.0 s behind the database', 'Prozess 7 auf host-1 geht gegenüber der Datenbank 2 s nach'],
  ['4.6 ms for an ID token', '4,6 ms für einen ID-Token'],
  ['2 processes of 2 versions', '2 Prozesse mit 2 Versionen'],
])('translates the server’s text %s', (text, expected) => {
  expect(german(text)).toBe(expected);
});

it('leaves values and unknown texts unchanged', () => {
  expect(german('Must be one of {name}, <b>, O’Neil.')).toBe('Muss eines davon sein: {name}, <b>, O’Neil.');
  expect(german('An answer of a mail server')).toBe('An answer of a mail server');
});
