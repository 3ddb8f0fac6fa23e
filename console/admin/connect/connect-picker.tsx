import { Anchor, Group, Text, TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'react-router';
import { products } from '../../products/products.ts';
import { answersOf, type StepProps } from '../clients/create/answers.ts';
import { type ClientKind, clientKinds } from '../clients/kind.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { type Card, KindCards } from '../ui/choices/kind-cards.tsx';
import { Icon } from '../ui/icon.tsx';
import { answersOfProduct, machine, productOf } from './product-answers.ts';

const named = products.map(({ id, name, words }) => ({ value: id, name, words }));

/** Shown before a search. */
const popular = ['grafana', 'nextcloud', 'gitlab', 'argo-cd', 'wordpress', 'oauth2-proxy', 'proxmox-ve', 'immich'];

const own: readonly (Card & { words: string })[] = [
  ...Object.entries(clientKinds).map(([value, kind]) => ({ value, ...kind, words: kind.hint })),
  {
    value: machine.id,
    name: machine.name,
    hint: t('Signs in as itself, without a person.'),
    icon: 'code',
    words: machine.words,
  },
  {
    value: 'saml',
    name: t('SAML application'),
    hint: t('A product that supports SAML 2.0 alone.'),
    icon: 'key',
    words: 'sso aws salesforce slack zoom google workspace atlassian zendesk box dropbox',
  },
];

/** Cards that have every word of the search; those whose name begins with it come first. */
function found<One extends { name: string; words: string }>(cards: readonly One[], search: string): One[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFirst = ({ name }: One) => name.toLowerCase().startsWith(words[0] ?? '');
  return cards
    .filter(({ name, words: more }) => words.every((word) => `${name} ${more}`.toLowerCase().includes(word)))
    .sort((one, other) => Number(isFirst(other)) - Number(isFirst(one)));
}

/** Search for a product, or an application of one's own; fills in the answers. */
export function ConnectPicker({ answers, answer }: StepProps) {
  const path = useProjectPath();
  const group = useId();
  const field = useRef<HTMLInputElement>(null);
  const [search, setSearch] = useState('');
  const [isAll, setAll] = useState(false);
  useEffect(() => {
    // Unless a field or dialog already has focus.
    const isTaken = document.activeElement?.closest('[role="dialog"], main form') != null;
    if (!isTaken) field.current?.focus({ preventScroll: true });
  }, []);
  const chosen = answers.isSaml ? 'saml' : (answers.product?.id ?? answers.kind);
  const isSearch = search.trim() !== '';
  const ownFound = found(own, search);
  const namedFound = found(named, search).filter(
    ({ value }) => isSearch || isAll || popular.includes(value) || value === chosen,
  );
  const choose = (value: string) => {
    if (value === 'saml') return answer({ ...answersOf('web-server', answers), isSaml: true });
    const product = productOf(value);
    answer(product ? answersOfProduct(product, answers) : answersOf(value as ClientKind, answers));
  };
  const [first] = [...(isSearch ? namedFound : []), ...ownFound];
  const chooseFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !isSearch || first === undefined || first.value === chosen) return;
    event.preventDefault();
    choose(first.value);
  };
  return (
    <>
      <TextInput
        ref={field}
        type="search"
        label={t('What do you connect?')}
        description={t('An application of your own, or one of {count} products.', { count: products.length })}
        placeholder={t('Search: Grafana, wiki, API')}
        value={search}
        leftSection={<Icon name="search" size={16} />}
        onChange={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={chooseFirst}
      />
      {ownFound.length > 0 && (
        <KindCards legend={t('Your own')} name={group} cards={ownFound} value={chosen} onChange={choose} />
      )}
      {namedFound.length > 0 && (
        <KindCards legend={t('Products')} name={group} cards={namedFound} value={chosen} onChange={choose} />
      )}
      {ownFound.length + namedFound.length === 0 && (
        <Text c="dimmed">
          {t(
            'No match. Any product with OpenID Connect connects as a web server, any with SAML as a SAML application.',
          )}
        </Text>
      )}
      <Group justify="space-between">
        <Text fz="sm" c="dimmed">
          <Anchor component={Link} to={path('apis')} fz="sm" underline="always">
            {t('API or MCP server')}
          </Anchor>{' '}
          {t('Checks tokens; has no sign-in of its own.')}
        </Text>
        {!isSearch && !isAll && (
          <SecondaryButton onClick={() => setAll(true)}>
            {t('Show all {count} products', { count: products.length })}
          </SecondaryButton>
        )}
      </Group>
    </>
  );
}
