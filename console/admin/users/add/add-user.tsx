import { Checkbox, Group, Modal, TextInput } from '@mantine/core';
import { useNavigate } from 'react-router';
import { AuditEvents, CreateUser, Users } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import { useUninvitable } from './invitable.tsx';

type TextField = 'email' | 'userName' | 'givenName' | 'familyName' | 'phone' | 'locale';

function useNewUser(onClose: () => void) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const uninvitable = useUninvitable();
  const form = useDialogForm({
    initial: { email: '', userName: '', givenName: '', familyName: '', phone: '', locale: '', invite: true },
    request({ invite: wanted, ...values }) {
      const given = Object.entries(values).flatMap(([name, value]) => (value.trim() ? [[name, value.trim()]] : []));
      const invite = wanted && values.email.trim() !== '' && !uninvitable;
      return request(CreateUser, { input: { projectId, ...Object.fromEntries(given), invite } });
    },
    invalidates: [Users, AuditEvents],
    onDone({ createUser: { id, userName } }) {
      toast(invite ? t('{userName} invited', { userName }) : t('{userName} added', { userName }));
      void navigate(path(`users/${id}`));
    },
    onClose,
  });
  const invite = form.values.invite && form.values.email.trim() !== '' && !uninvitable;
  return { form, invite, uninvitable };
}

/** Dialog that adds a user. */
export function AddUser({ onClose }: { onClose(): void }) {
  const { form, invite, uninvitable } = useNewUser(onClose);
  const { email, userName } = form.values;
  const field = (name: TextField) => ({ ...form.field(name), maxLength: 256 });
  return (
    <Modal opened onClose={onClose} title={t('Add user')}>
      <DialogForm
        {...form.props}
        verb={invite ? t('Invite user') : t('Add user')}
        disabled={!email.trim() && !userName.trim()}
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
          description={uninvitable ?? t('A mail with a link to sign in. It does not expire.')}
          {...form.toggle('invite')}
          checked={invite}
          disabled={email.trim() === '' || uninvitable !== undefined}
        />
      </DialogForm>
    </Modal>
  );
}
