import { t } from '../language/language.ts';
import { ListField } from '../ui/forms/list-field.tsx';
import { addressFault } from './redirect-fault.ts';

interface UrisProps {
  value: readonly string[];
  onChange(uris: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
  placeholder?: string;
}

export function RedirectUris({ placeholder = 'https://app.example.com/callback', ...props }: UrisProps) {
  return (
    <ListField
      label={t('Redirect URIs')}
      hint={t('Must match exactly. Their origins are also allowed by CORS.')}
      one={t('redirect URI')}
      placeholder={placeholder}
      fault={addressFault}
      {...props}
    />
  );
}

export function PostLogoutUris(props: UrisProps) {
  return (
    <ListField
      label={t('Post-logout redirect URIs')}
      hint={t('Allowed destinations after sign-out. Optional.')}
      one={t('post-logout URI')}
      placeholder="https://app.example.com/"
      fault={addressFault}
      {...props}
    />
  );
}
