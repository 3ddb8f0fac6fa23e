import { TextInput } from '@mantine/core';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { useState } from 'react';
import { t } from '../language/language.ts';
import { Section } from '../ui/layout/page.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import styles from './explorer.module.css';

interface Row {
  id: string;
  kind: 'query' | 'mutation';
  field: GraphQLField<unknown, unknown>;
}

const shownRows = 12;

function rowsOf(schema: GraphQLSchema): Row[] {
  const of = (kind: Row['kind'], fields: Record<string, Row['field']> = {}) =>
    Object.values(fields).map((field) => ({ id: `${kind} ${field.name}`, kind, field }));
  return [...of('query', schema.getQueryType()?.getFields()), ...of('mutation', schema.getMutationType()?.getFields())];
}

/** Queries and mutations of the schema, with their arguments. */
export function SchemaReference({ schema }: { schema: GraphQLSchema | undefined }) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    schema &&
    rowsOf(schema).filter(({ kind, field }) => {
      const text = `${kind} ${field.name} ${field.description ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  return (
    <Section flush title={t('Queries and mutations')}>
      <TextInput
        className={styles.search ?? ''}
        type="search"
        aria-label={t('Search queries and mutations')}
        placeholder={t('Search queries and mutations')}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <p className={styles.count} role="status">
        {found &&
          t('{shown, number} of {count, number}', { shown: Math.min(found.length, shownRows), count: found.length })}
      </p>
      <Disclosures
        rows={found?.slice(0, shownRows)}
        columns="minmax(0, 1fr)"
        narrowColumns="minmax(0, 1fr)"
        summary={({ kind, field }) => (
          <span>
            <code>
              {kind} <strong>{field.name}</strong>: {String(field.type)}
            </code>
          </span>
        )}
        details={({ field }) => (
          <>
            {field.description && <p>{field.description}</p>}
            <Facts
              labelWidth="12rem"
              facts={field.args.map((argument) => [
                <code key={argument.name}>{argument.name}</code>,
                <>
                  <code>{String(argument.type)}</code> {argument.description}
                </>,
              ])}
            />
          </>
        )}
      />
    </Section>
  );
}
