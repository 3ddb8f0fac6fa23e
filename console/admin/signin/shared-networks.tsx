import { t } from '../language/language.ts';
import { ListInput } from '../ui/forms/list-input.tsx';

interface SharedNetworksProps {
  value: readonly string[];
  onChange(networks: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for addresses and ranges that many users share. */
export function SharedNetworks(props: SharedNetworksProps) {
  return (
    <ListInput
      label={t('Shared networks')}
      description={t('Addresses or ranges of offices: 5,000 more codes an hour for each.')}
      placeholder="192.0.2.0/24, 2001:db8::/48"
      fold={(text) => text.toLowerCase()}
      {...props}
    />
  );
}
