import { Fieldset, Group, Modal, Text, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  AuditEvents,
  UpdateUser,
  type UpdateUserInput,
  UserById,
  type UserByIdQuery,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

type User = NonNullable<UserByIdQuery['user']>;

interface EditProfileProps {
  user: User;
  /** The directory is authoritative: it locks the phone. */
  isLocked: boolean;
  opened: boolean;
  onClose(): void;
}

const logins = { email: t('Email address'), userName: t('User name'), phone: t('Phone') } as const;
const names = { displayName: t('Name'), givenName: t('Given name'), familyName: t('Family name') } as const;
const parts = {
  streetAddress: t('Street'),
  postalCode: t('Postal code'),
  locality: t('City'),
  region: t('State or region'),
  country: t('Country code'),
} as const;

/** Dialog with the attributes that admins can edit. */
export function EditProfile({ opened, onClose, ...props }: EditProfileProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t('Edit profile')} size="lg">
      {opened && <ProfileForm {...props} onClose={onClose} />}
    </Modal>
  );
}

function ProfileForm({ user, isLocked, onClose }: Omit<EditProfileProps, 'opened'>) {
  const form = useDialogForm({
    initial: {} as Omit<UpdateUserInput, 'id'>,
    request: (edits) => request(UpdateUser, { input: { id: user.id, ...edits } }),
    invalidates: [UserById, AuditEvents],
    done: t('Saved'),
    onClose,
  });
  const saved = { ...user, ...form.values };
  const field = (name: keyof typeof logins | keyof typeof names | 'locale' | 'zoneinfo' | 'birthdate') => ({
    ...form.field(name),
    value: saved[name] ?? '',
    disabled: isLocked && name === 'phone',
  });
  const part = (name: keyof typeof parts | 'formatted') => ({
    value: saved.address?.[name] ?? '',
    error: form.faultAt(name),
    onChange: (event: { currentTarget: { value: string } }) =>
      form.set({ address: { ...saved.address, [name]: event.currentTarget.value } }),
  });
  return (
    <DialogForm {...form.props} verb={t('Save')} disabled={Object.keys(form.values).length === 0}>
      {user.provenance === 'SCIM' && (
        <Text c="dimmed">
          {t('The next sync of the directory may overwrite changes.')}{' '}
          {isLocked && t('The directory manages the phone. Change it there.')}
        </Text>
      )}
      <Fieldset legend={t('Sign-in')}>
        <Text c="dimmed" size="sm">
          {t('A change ends open sign-ins. The email addresses that the user had before get a notice.')}
        </Text>
        {Object.entries(logins).map(([name, label]) => (
          <TextInput key={name} label={label} mt="xs" spellCheck={false} {...field(name as keyof typeof logins)} />
        ))}
      </Fieldset>
      {Object.entries(names).map(([name, label]) => (
        <TextInput key={name} label={label} maxLength={256} {...field(name as keyof typeof names)} />
      ))}
      <Group grow align="flex-start">
        <TextInput label={t('Language')} description={t('Such as en-US')} spellCheck={false} {...field('locale')} />
        <TextInput
          label={t('Time zone')}
          description={t('Such as Europe/Zurich')}
          spellCheck={false}
          {...field('zoneinfo')}
        />
      </Group>
      <TextInput label={t('Date of birth')} type="date" maw="14rem" {...field('birthdate')} />
      <AddressFields part={part} />
    </DialogForm>
  );
}

interface PartProps {
  value: string;
  error: ReactNode;
  onChange(event: { currentTarget: { value: string } }): void;
}

function AddressFields({ part }: { part(name: keyof typeof parts | 'formatted'): PartProps }) {
  return (
    <Fieldset legend={t('Address')}>
      {Object.entries(parts).map(([name, label]) => (
        <TextInput
          key={name}
          label={label}
          mt="xs"
          {...(name === 'country' ? { description: t('Two capital letters, such as CH'), maxLength: 2 } : {})}
          {...part(name as keyof typeof parts)}
        />
      ))}
      <Textarea
        label={t('Full address')}
        description={t('As on an envelope. Optional.')}
        mt="xs"
        autosize
        minRows={2}
        {...part('formatted')}
      />
    </Fieldset>
  );
}
