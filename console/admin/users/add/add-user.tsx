import { Checkbox, Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from '../../api.ts';
import { faultAt } from '../../failure.ts';
import { AuditEvents, CreateUser, Users } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';

const fields = ['email', 'userName', 'givenName', 'familyName', 'phone', 'locale'] as const;
type Field = (typeof fields)[number];

/** Dialog that adds a user. */
export function AddUser({ onClose }: { onClose(): void }) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const [values, setValues] = useState<Partial<Record<Field, string>>>({});
  const [isInvited, setInvited] = useState(true);
  const [create, busy, failure] = useMutation(CreateUser, [Users, AuditEvents]);
  const given = Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value.trim() ? [[name, value.trim()]] : [])),
  );
  const invite = isInvited && given['email'] !== undefined;
  const input = { projectId, ...given, invite };
  const field = (name: Field) => ({
    value: values[name] ?? '',
    error: faultAt(failure, name),
    maxLength: 256,
    onChange: (event: { currentTarget: { value: string } }) =>
      setValues({ ...values, [name]: event.currentTarget.value }),
  });
  const submit = async () => {
    const { data } = await create({ input });
    if (!data) return;
    toast(`${data.createUser.userName} ${invite ? 'invited' : 'added'}`);
    void navigate(path(`users/${data.createUser.id}`));
  };
  return (
    <Modal opened onClose={onClose} title={t('Add user')}>
      <DialogForm
        verb={invite ? t('Invite user') : t('Add user')}
        {...{ busy, failure, onClose }}
        fields={[...fields]}
        disabled={!values.email?.trim() && !values.userName?.trim()}
        graphql={request(CreateUser, { input })}
        onSubmit={() => void submit()}
      >
        <TextInput
          label={t('Email address')}
          description={t('For sign-in.')}
          type="email"
          data-autofocus
          {...field('email')}
        />
        <Group grow align="flex-start">
          <TextInput label={t('Given name')} {...field('givenName')} />
          <TextInput label={t('Family name')} {...field('familyName')} />
        </Group>
        <TextInput
          label={t('User name')}
          description={t('Default: the email address.')}
          spellCheck={false}
          {...field('userName')}
        />
        <Group grow align="flex-start">
          <TextInput label={t('Phone')} description={t('Such as +41791234567')} type="tel" {...field('phone')} />
          <TextInput
            label={t('Language')}
            description={t('For mails, such as de')}
            spellCheck={false}
            {...field('locale')}
          />
        </Group>
        <Checkbox
          label={t('Send an invitation')}
          description={t('A mail with a link to sign in. It does not expire.')}
          checked={invite}
          disabled={given['email'] === undefined}
          onChange={(event) => setInvited(event.currentTarget.checked)}
        />
      </DialogForm>
    </Modal>
  );
}
