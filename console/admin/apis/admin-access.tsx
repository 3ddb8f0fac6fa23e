import { Checkbox, Stack } from '@mantine/core';
import { useMemo } from 'react';
import type { ClientPartProps } from '../clients/client-part.ts';
import { useClientForm } from '../clients/use-client-form.ts';
import { t } from '../language/language.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Section } from '../ui/layout/page.tsx';

/** Rights at the admin API; write includes read. */
const rights = {
  'users:read': t('Read users, groups, sessions and devices'),
  'users:write': t('Change users, end their sessions, assign roles'),
  'consent:read': t('Read consents to third-party applications'),
  'consent:write': t('Withdraw consents to third-party applications'),
  'clients:read': t('Read applications, their roles and APIs'),
  'clients:write': t('Change applications, their secrets, roles and APIs'),
  'projects:read': t('Read the project, its branding and directories'),
  'projects:write': t('Change the project, its branding and directories'),
  'audit:read': t('Read events and messages'),
  'profile:self': t('Read its own name, project and rights'),
  scim: t('Provision users and groups as a directory, by SCIM'),
};

interface Values {
  adminScopes: string[];
}

/** The scopes of an application at the admin API of this instance. */
export function AdminAccess({ client, mayChange }: ClientPartProps) {
  const saved = useMemo<Values>(() => ({ adminScopes: client.adminScopes }), [client]);
  const form = useClientForm(client, mayChange, saved, (edits) => edits);
  const { value, onChange } = form.field('adminScopes');
  return (
    <>
      <Section
        title={t('Admin API')}
        lead={t('Rights of this application in this project, with its own tokens instead of an admin API token.')}
      >
        <Checkbox.Group aria-label={t('Admin API')} value={value} onChange={onChange}>
          <Stack gap="sm">
            {Object.entries(rights).map(([scope, description]) => (
              <Checkbox
                key={scope}
                value={scope}
                disabled={!mayChange}
                label={<code>{scope}</code>}
                description={description}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Section>
      <SaveBar
        form={form}
        labels={{ adminScopes: t('Admin API') }}
        describe={(_, { adminScopes }) => (adminScopes.length > 0 ? adminScopes : t('None'))}
      />
    </>
  );
}
