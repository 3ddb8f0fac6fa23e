import { Checkbox, Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from '../../api.ts';
import { faultAt } from '../../failure.ts';
import { AuditEvents, CreateUser, Users } from '../../generated/operations.ts';
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
    <Modal opened onClose={onClose} title="Add user">
      <DialogForm
        verb={invite ? 'Invite user' : 'Add user'}
        {...{ busy, failure, onClose }}
        fields={[...fields]}
        disabled={!values.email?.trim() && !values.userName?.trim()}
        graphql={request(CreateUser, { input })}
        onSubmit={() => void submit()}
      >
        <TextInput label="Email address" description="For sign-in." type="email" data-autofocus {...field('email')} />
        <Group grow align="flex-start">
          <TextInput label="Given name" {...field('givenName')} />
          <TextInput label="Family name" {...field('familyName')} />
        </Group>
        <TextInput
          label="User name"
          description="Default: the email address."
          spellCheck={false}
          {...field('userName')}
        />
        <Group grow align="flex-start">
          <TextInput label="Phone" description="Such as +41791234567" type="tel" {...field('phone')} />
          <TextInput label="Language" description="Of mails. Such as de" spellCheck={false} {...field('locale')} />
        </Group>
        <Checkbox
          label="Send an invitation"
          description="A mail with a link to sign in. It does not expire."
          checked={invite}
          disabled={given['email'] === undefined}
          onChange={(event) => setInvited(event.currentTarget.checked)}
        />
      </DialogForm>
    </Modal>
  );
}
