import { Textarea, TextInput } from '@mantine/core';
import { useQuery } from '../../api.ts';
import { typeText } from '../../directories/attribute-names.ts';
import { customUrn } from '../../directories/custom-urn.ts';
import {
  AuditEvents,
  UpdateCustomValues,
  UserById,
  UserCustomValues,
  type UserCustomValuesQuery,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { DialogForm } from '../../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../../ui/forms/use-dialog-form.ts';
import { Section } from '../../ui/layout/page.tsx';
import { Facts } from '../../ui/lists/facts.tsx';

interface UserAttributesProps {
  userId: string;
  /** The directory is authoritative: only attributes that admins write can be edited. */
  isLocked: boolean;
  mayChange: boolean;
}

/** The custom attributes of a user; nothing if the project has none. */
export function UserAttributes({ userId, isLocked, mayChange }: UserAttributesProps) {
  const { data } = useQuery(UserCustomValues, { id: userId });
  const [dialog, { open: openForm }] = useDialog();
  const values = data?.user?.customValues ?? [];
  if (values.length === 0) return null;
  const isOpen = ({ mutability }: (typeof values)[number]['attribute']) => !isLocked || mutability === 'READ_ONLY';
  const open = values.filter(({ attribute }) => isOpen(attribute));
  const edit = () =>
    openForm(
      t('Edit custom attributes'),
      (close) => <ValuesForm userId={userId} values={open} onClose={close} />,
      'lg',
    );
  return (
    <Section
      title={t('Custom attributes')}
      lead={isLocked && t('Managed by the directory, except those that admins write.')}
      actions={
        mayChange &&
        open.length > 0 && (
          <SecondaryButton aria-label={t('Edit custom attributes')} onClick={edit}>
            {t('Edit')}
          </SecondaryButton>
        )
      }
    >
      <Facts
        facts={values.map(({ attribute, hasValue, value }) => [
          attribute.name,
          hasValue ? (attribute.returned === 'NEVER' ? t('Set, not shown') : textOf(value)) : '–',
        ])}
      />
      {dialog}
    </Section>
  );
}

type Value = NonNullable<UserCustomValuesQuery['user']>['customValues'][number];

function ValuesForm({ userId, values, onClose }: { userId: string; values: readonly Value[]; onClose(): void }) {
  const form = useDialogForm({
    initial: {} as Record<string, string>,
    request: (edits) => request(UpdateCustomValues, { input: { id: userId, values: changedBy(edits) } }),
    invalidates: [UserCustomValues, UserById, AuditEvents],
    done: t('Saved'),
    onClose,
  });
  function changedBy(edits: Record<string, string>) {
    return values.flatMap(({ attribute }) => {
      const text = edits[attribute.name];
      return text === undefined ? [] : [{ name: attribute.name, value: valueOf(attribute, text) }];
    });
  }
  return (
    <DialogForm {...form.props} verb={t('Save')} disabled={Object.keys(form.values).length === 0}>
      {values.map(({ attribute, value }) => {
        const { name } = attribute;
        const field = {
          label: name,
          description: attribute.description || typeText(attribute),
          value: form.values[name] ?? (value == null ? '' : textOf(value)),
          error: form.faultAt(`${customUrn}:${name}`),
          onChange: (event: { currentTarget: { value: string } }) => form.set({ [name]: event.currentTarget.value }),
        };
        const isLong = attribute.multiValued || attribute.type === 'COMPLEX';
        return isLong ? (
          <Textarea
            key={name}
            {...field}
            description={t('{description} (JSON)', { description: field.description })}
            autosize
            minRows={2}
          />
        ) : (
          <TextInput key={name} {...field} />
        );
      })}
    </DialogForm>
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Text unchanged; lists and complex values as JSON, which the server checks. */
function valueOf({ multiValued, type }: Value['attribute'], text: string): unknown {
  if (text.trim() === '') return null;
  if (!multiValued && type !== 'COMPLEX') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
