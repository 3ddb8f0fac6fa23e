/** @param schema the schema of the tables, quoted */
export const functions = (schema: string): readonly string[] => [
  'create sequence moments',
  // In place of `count(*)`; one of 16 rows, so that processes rarely wait for each other.
  `create function count_users() returns trigger language plpgsql as $$
      begin
        if current_setting('latchkey.users_counted', true) = 'on' then return null; end if;
        insert into user_counts as known (project_id, slot, users)
        select p.id, pg_backend_pid() % 16, count(*) * case tg_op when 'INSERT' then 1 else -1 end
        from changed c join projects p on p.id = c.project_id
        group by p.id
        on conflict (project_id, slot) do update set users = known.users + excluded.users;
        return null;
      end $$`,
  // Indexed in place of the moment, which each sign-in changes.
  `create function note_sign_in_hour() returns trigger language plpgsql as $$
      begin
        new.sign_in_hour := date_trunc('hour', new.last_sign_in_at, 'UTC');
        return new;
      end $$`,
  // As the owner of the tables: it queues events of the instance and of every project, regardless of the scope of the request.
  `create function queue_stream_events() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
      begin
        if exists (select 1 from ${schema}.log_streams) then
          insert into ${schema}.stream_events (project_id, event_id)
          select distinct coalesce(s.project_id, '${instanceId}'), new.id from ${schema}.log_streams s
          where coalesce(s.project_id, '${instanceId}') in (new.project_id, '${instanceId}')
          on conflict do nothing;
        end if;
        return null;
      end $$`,
  // Events while a webhook is disabled become failed deliveries, which an admin can replay.
  `create function queue_webhook_deliveries() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
      begin
        if exists (select 1 from ${schema}.webhooks where project_id = new.project_id) then
          insert into ${schema}.webhook_deliveries
            (project_id, id, webhook_id, event_id, type, order_key, state, next_attempt_at, created_at, settled_at)
          select w.project_id, (left(new.id::text, 24) || right(w.id::text, 12))::uuid, w.id, new.id, new.type,
            coalesce(new.subject_id, new.actor_id, ''),
            case when w.disabled_reason is null then 'pending' else 'failed' end,
            case when w.disabled_reason is null then new.at end, new.at,
            case when w.disabled_reason is not null then new.at end
          from ${schema}.webhooks w
          where w.project_id = new.project_id
            and (w.types = '{}' or new.type = any(w.types) or split_part(new.type, '.', 1) || '.*' = any(w.types))
          on conflict do nothing;
        end if;
        return null;
      end $$`,
  // The origin of each address; of loopback addresses without the port, which is free (RFC 8252 §7.3).
  `create function redirect_origins(uris text[]) returns text[] language sql immutable strict parallel safe as $$
        select coalesce(array_agg(distinct case when origin like 'http:%' then regexp_replace(origin, ':[0-9]+$', '')
          else regexp_replace(origin, ':443$', '') end), '{}')
        from (select substring(uri from '^https://[^/?]+') as origin from unnest(uris) uri
          union all select substring(uri from '^http://[^/?]+') from unnest(uris) uri) origins
        where origin is not null
      $$`,
  // The only function whose result an index may have: that of `lower` differs by the locale of the database.
  `create function search_fold(value text) returns text language plpgsql immutable strict parallel safe as $fold$
      begin
        if octet_length(value) = char_length(value) then
          return translate(lower(value collate "C"), '\`', '''');
        end if;
        return (select normalize(coalesce(string_agg(coalesce('${JSON.stringify(folds()).replaceAll("'", "''")}'::jsonb ->> c, c), '' order by n), ''), NFC)
          from unnest(string_to_array(translate(lower(normalize(replace(value, '´', ''''), NFKD) collate "C"), '\`', ''''), null)) with ordinality as parts (c, n));
      end $fold$`,
  // The characters beyond ASCII of a folded text, and each adjacent pair of them; null if there are none.
  `create function search_grams(folded text) returns text[] language plpgsql immutable strict parallel safe as $$
      begin
        if octet_length(folded) = char_length(folded) then return null; end if;
        return (select array_agg(distinct gram) from (
            select c, lag(c) over (order by n) as before from unnest(string_to_array(folded, null)) with ordinality as parts (c, n)
          ) pairs cross join lateral (values (c), (case when octet_length(before) > 1 then before || c end)) grams (gram)
          where octet_length(c) > 1 and gram is not null);
      end $$`,
];

const instanceId = '00000000-0000-0000-0000-000000000000';

/** The replacement of each code point that folding changes, in NFKD; a copy of `searchFold` as of this migration. */
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
