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
      label="Redirect URIs"
      hint="Must match exactly. Their origins are also allowed by CORS."
      one="redirect URI"
      placeholder={placeholder}
      fault={addressFault}
      {...props}
    />
  );
}

export function PostLogoutUris(props: UrisProps) {
  return (
    <ListField
      label="Post-logout redirect URIs"
      hint="Allowed destinations after sign-out. Optional."
      one="post-logout URI"
      placeholder="https://app.example.com/"
      fault={addressFault}
      {...props}
    />
  );
}
