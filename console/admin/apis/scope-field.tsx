import { TextInput } from '@mantine/core';
import { t } from '../language/language.ts';
import { Lines } from '../ui/forms/lines.tsx';
import { monospace, verbatim } from '../ui/forms/verbatim.ts';

export interface Scope {
  key: string;
  description: string;
}

interface ScopeFieldProps {
  value: readonly Scope[];
  onChange(scopes: Scope[]): void;
  /** From the server. */
  error?: string | undefined;
}

/** The scopes of an API, one per line: key and description. */
export function ScopeField(props: ScopeFieldProps) {
  return (
    <Lines
      {...props}
      keepsOne
      legend={t('Scopes')}
      blank={{ key: '', description: '' }}
      nameOf={({ key }) => key || 'scope'}
      addLabel={t('Add scope')}
      inputs={({ value: scope, index, put }) => (
        <>
          <TextInput
            {...verbatim}
            w="38%"
            styles={monospace}
            aria-label={t('Scope {index}, key', { index: index + 1 })}
            placeholder="orders:read"
            maxLength={100}
            value={scope.key}
            onChange={(event) => put({ ...scope, key: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            aria-label={t('Scope {index}, description', { index: index + 1 })}
            placeholder={t('Read orders')}
            maxLength={200}
            value={scope.description}
            onChange={(event) => put({ ...scope, description: event.currentTarget.value })}
          />
        </>
      )}
    />
  );
}
