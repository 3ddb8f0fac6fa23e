import { OnlineMigration } from './online.ts';

/**
 * Searches for names by their fold (`searchFold` of `shared/contracts`), and for one or two characters of scripts without
 * spaces. The previous release searches without an index until it ends.
 */
export class Migration20261129001700SearchFold extends OnlineMigration {
  override async up(): Promise<void> {
    // The only function whose result an index may have: that of `lower` differs by the locale of the database.
    await this.execute(`create or replace function search_fold(value text) returns text
      language plpgsql immutable strict parallel safe as $fold$
      begin
        if octet_length(value) = char_length(value) then
          return translate(lower(value collate "C"), '\`', '''');
        end if;
        return (select normalize(coalesce(string_agg(coalesce('${JSON.stringify(folds()).replaceAll("'", "''")}'::jsonb ->> c, c), '' order by n), ''), NFC)
          from unnest(string_to_array(translate(lower(normalize(replace(value, '´', ''''), NFKD) collate "C"), '\`', ''''), null)) with ordinality as parts (c, n));
      end $fold$`);
    // The characters beyond ASCII of a folded text, and each two that stand side by side; null without any.
    await this.execute(`create or replace function search_grams(folded text) returns text[]
      language plpgsql immutable strict parallel safe as $grams$
      begin
        if octet_length(folded) = char_length(folded) then return null; end if;
        return (select array_agg(distinct gram) from (
            select c, lag(c) over (order by n) as before from unnest(string_to_array(folded, null)) with ordinality as parts (c, n)
          ) pairs cross join lateral (values (c), (case when octet_length(before) > 1 then before || c end)) grams (gram)
          where octet_length(c) > 1 and gram is not null);
      end $grams$`);
    const [extension] = await this.execute(
      `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
        where e.extname = 'pg_trgm'`,
    );
    const operators = `${String(extension?.['schema'])}.gin_trgm_ops`;
    const text = `' ' || search_fold("user_name_key" || ' ' || coalesce("email_key", '')) || ' ' || search_fold(coalesce("display_name", '')
      || ' ' || coalesce("given_name", '') || ' ' || coalesce("family_name", '') || ' ' || coalesce("external_id", ''))`;
    await this.index('users', 'users_search_fold_index', `(${text}) ${operators}`, false, 'gin');
    await this.index('users', 'users_search_grams_index', `search_grams(${text})`, false, 'gin');
    // Gives the planner the frequency of each part.
    await this.execute('analyze "users"');
    await this.alter('drop index if exists "users_search_index"');
  }
}

/** What a code point of a text in NFKD becomes, where it changes; a copy of `searchFold` as of this migration. */
function folds(): Record<string, string> {
  const others: Record<string, string> = {
    ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ð: 'd', þ: 'th', æ: 'ae', œ: 'oe' },
    ...Object.fromEntries([...'‘’‚‛′ʹʻʼ'].map((quote) => [quote, "'"])),
    ...Object.fromEntries([...'“”„‟″«»'].map((quote) => [quote, '"'])),
    ...Object.fromEntries([...'‐‒–—―−'].map((dash) => [dash, '-'])),
  };
  const accent =
    // oxlint-disable-next-line no-misleading-character-class -- ranges of marks, none of them after a letter
    /^(?=\p{M})[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/u;
  const changes: Record<string, string> = {};
  // Later planes have ideographs, whose fold is their decomposition, and variation selectors.
  const points = [...range(0x80, 0xd7ff), ...range(0xe000, 0x1ffff), ...range(0xe0100, 0xe01ef)];
  for (const character of points.map((point) => String.fromCodePoint(point))) {
    if (character.normalize('NFKD') !== character) continue;
    const plain = character.toLowerCase().toUpperCase().toLowerCase();
    const isOmitted = accent.test(character) || /^\p{Default_Ignorable_Code_Point}/u.test(character);
    const folded = isOmitted ? '' : (others[plain] ?? plain);
    if (folded !== character) changes[character] = folded;
  }
  return changes;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
