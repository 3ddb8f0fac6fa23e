import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { t } from '../language/language.ts';

const networksIn = (text: string) => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,;]+/)
      .filter(Boolean),
  ),
];

interface SharedNetworksProps {
  value: readonly string[];
  onChange(networks: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for addresses and ranges that many users share. */
export function SharedNetworks({ value: networks, onChange, error, disabled = false }: SharedNetworksProps) {
  const [text, setText] = useState(() => networks.join(', '));
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (networksIn(text).join() !== networks.join()) setText(networks.join(', '));
  }, [networks]);
  return (
    <TextInput
      label={t('Shared networks')}
      description={t('Addresses or ranges of offices: 5,000 more codes an hour for each.')}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="192.0.2.0/24, 2001:db8::/48"
      value={text}
      disabled={disabled}
      error={error}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(networksIn(event.currentTarget.value));
      }}
    />
  );
}
