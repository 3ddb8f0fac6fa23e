import { t } from '../language/language.ts';
import { ListField } from '../ui/forms/list-field.tsx';
import { addressFault } from './redirect-fault.ts';

interface UrisProps {
  value: readonly string[];
  onChange(uris: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

export function RedirectUris(props: UrisProps & { placeholder: string }) {
  return (
    <ListField
      label={t('Redirect URIs')}
      hint={t('Must match exactly; loopback addresses at any port. CORS allows their origins.')}
      one={t('redirect URI')}
      fault={addressFault}
      {...props}
    />
  );
}

export function PostLogoutUris(props: UrisProps) {
  return (
    <ListField
      label={t('Post-logout redirect URIs')}
      hint={t('Allowed destinations after sign-out, matched exactly. Optional.')}
      one={t('post-logout URI')}
      placeholder="https://app.example.com/"
      fault={addressFault}
      {...props}
    />
  );
}
