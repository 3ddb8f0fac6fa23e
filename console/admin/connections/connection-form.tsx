import { TextInput } from '@mantine/core';
import { useNavigate } from 'react-router';
import { type ConnectionKind, CreateConnection, type CreateConnectionInput } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { KindCards } from '../ui/choices/kind-cards.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { stale } from './connection-state.tsx';
import { providerOf, providers } from './providers.ts';

interface ConnectionFormProps {
  owner: Pick<CreateConnectionInput, 'projectId' | 'organizationId'>;
  onClose(): void;
}

const kinds = {
  OIDC: { name: 'OpenID Connect', hint: t('Recommended, if the provider supports both.') },
  SAML: { name: 'SAML 2.0', hint: t('For providers and companies that use SAML.') },
} as const;

/** The providers that support a kind. */
const cardsOf = (kind: ConnectionKind) =>
  providers.filter(({ hasSaml }) => kind === 'OIDC' || hasSaml).map(({ id, name }) => ({ value: id, name }));

/** Creates a draft, whose page opens. */
export function ConnectionForm({ owner, onClose }: ConnectionFormProps) {
  const path = useProjectPath();
  const navigate = useNavigate();
  const form = useDialogForm({
    initial: { kind: 'OIDC' as ConnectionKind, preset: 'okta', name: undefined as string | undefined },
    request: ({ kind, preset, name = providerOf(preset).name }) =>
      request(CreateConnection, { input: { ...owner, kind, preset, name } }),
    invalidates: stale,
    done: t('Connection created'),
    onDone: ({ createConnection: { connection } }) => void navigate(path(`connections/${connection.id}`)),
    onClose,
  });
  const { kind, preset, name = providerOf(preset).name } = form.values;
  return (
    <DialogForm {...form.props} verb={t('Create connection')} disabled={name.trim() === ''}>
      <Radios
        label={t('Protocol')}
        isLabelled
        options={kinds}
        value={kind}
        onChange={(chosen) =>
          form.set({
            kind: chosen,
            ...(cardsOf(chosen).some(({ value }) => value === preset) ? {} : { preset: 'okta' }),
          })
        }
      />
      <KindCards
        legend={t('Identity provider')}
        name="provider"
        cards={cardsOf(kind)}
        value={preset}
        onChange={(chosen) => form.set({ preset: chosen })}
      />
      <TextInput
        label={t('Name')}
        description={t('On the sign-in page: “Continue with {name}”.', { name: name.trim() || '…' })}
        maxLength={100}
        {...form.field('name')}
        value={name}
      />
    </DialogForm>
  );
}
