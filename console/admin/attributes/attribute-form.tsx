import { Checkbox, type CheckboxProps, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { typeNames } from '../directories/attribute-names.ts';
import {
  AuditEvents,
  CreateCustomAttribute,
  type CreateCustomAttributeInput,
  type CustomAttributeRowFragment,
  CustomAttributes,
  type CustomAudience,
  type CustomPartType,
  UpdateCustomAttribute,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { optionsOf } from '../ui/forms/options.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';

type Values = Omit<CreateCustomAttributeInput, 'projectId'>;

interface AttributeFormProps {
  projectId: string;
  /** Absent: a new attribute. */
  attribute?: CustomAttributeRowFragment;
  /** Initial values of a new attribute. */
  initial?: Values;
  onClose(): void;
}

const writers = {
  READ_WRITE: t('Directories and admins'),
  READ_ONLY: t('Admins only'),
  IMMUTABLE: t('Directories and admins, once'),
  WRITE_ONLY: t('Directories; never read'),
};
const returns = { DEFAULT: t('By default'), ALWAYS: t('Always'), REQUEST: t('On request'), NEVER: t('Never') };

function useAttributeForm({ projectId, attribute, initial, onClose }: AttributeFormProps) {
  return useDialogForm({
    initial: (): Values & { parts: string } => ({
      ...(attribute ?? initial ?? { name: '', type: 'STRING' }),
      parts: linesOf(attribute),
    }),
    request({ parts, ...values }) {
      const input = {
        ...{ projectId, ...values, alias: values.alias ?? '' },
        ...(values.mutability === 'WRITE_ONLY' ? { returned: 'NEVER' as const } : {}),
        subAttributes: values.type === 'COMPLEX' ? partsOf(parts, attribute?.subAttributes) : [],
      };
      return attribute ? request(UpdateCustomAttribute, { input }) : request(CreateCustomAttribute, { input });
    },
    invalidates: [CustomAttributes, AuditEvents],
    done: attribute ? t('Saved') : t('Attribute created'),
    onClose,
  });
}

interface PartProps {
  form: ReturnType<typeof useAttributeForm>;
}

/** Creates a custom attribute, or changes its definition. */
export function AttributeForm(props: AttributeFormProps) {
  const { attribute } = props;
  const form = useAttributeForm(props);
  const { description, alias, name } = form.values;
  return (
    <DialogForm {...form.props} verb={attribute ? t('Save') : t('Create attribute')} disabled={name.trim() === ''}>
      <NameAndType form={form} isNew={attribute === undefined} />
      <TextInput label={t('Description')} maxLength={500} {...form.field('description')} value={description ?? ''} />
      <Directories form={form} />
      <Rules form={form} />
      <TextInput
        label={t('Also accepted as')}
        description={t('A name that your directory sends already. Optional.')}
        maxLength={300}
        spellCheck={false}
        {...form.field('alias')}
        value={alias ?? ''}
      />
    </DialogForm>
  );
}

function NameAndType({ form, isNew }: PartProps & { isNew: boolean }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          {...verbatim}
          label={t('Name')}
          description={isNew ? t('Letters, digits, _ and -') : t('Cannot be changed')}
          maxLength={64}
          disabled={!isNew}
          {...form.field('name')}
          {...firstFocus}
        />
        <Select
          label={t('Type')}
          description={t('Fixed once users have values')}
          allowDeselect={false}
          data={optionsOf(typeNames)}
          {...form.field('type')}
        />
      </Group>
      {form.values.type === 'COMPLEX' && (
        <Textarea
          label={t('Parts')}
          description={t('One per line: name, space, type ({partTypes})', {
            partTypes: partTypes.join(', '),
          })}
          autosize
          minRows={3}
          spellCheck={false}
          {...form.field('parts')}
          error={form.faultAt('subAttributes')}
        />
      )}
    </>
  );
}

/** How directories write and read the attribute. */
function Directories({ form }: PartProps) {
  const { mutability, returned } = form.values;
  const isWriteOnly = mutability === 'WRITE_ONLY';
  return (
    <Group grow align="flex-start">
      <Select
        label={t('Written by')}
        allowDeselect={false}
        data={optionsOf(writers)}
        {...form.field('mutability')}
        value={mutability ?? 'READ_WRITE'}
      />
      <Select
        label={t('Returned to directories')}
        allowDeselect={false}
        disabled={isWriteOnly}
        data={optionsOf(returns)}
        {...form.field('returned')}
        value={isWriteOnly ? 'NEVER' : (returned ?? 'DEFAULT')}
      />
    </Group>
  );
}

/** Rules for values, and their audience. */
function Rules({ form }: PartProps) {
  const { uniqueness, type } = form.values;
  const visibleTo = form.values.visibleTo ?? [];
  const visibility = (audience: CustomAudience) => ({
    checked: visibleTo.includes(audience),
    onChange(event: ChangeEvent<HTMLInputElement>) {
      const others = visibleTo.filter((each) => each !== audience);
      form.set({ visibleTo: event.currentTarget.checked ? [...others, audience] : others });
    },
  });
  const rule = (label: string, field: CheckboxProps, description?: string) => (
    <Checkbox label={label} description={description} {...field} />
  );
  const unique = {
    checked: uniqueness === 'SERVER',
    error: form.faultAt('uniqueness'),
    onChange: (event: ChangeEvent<HTMLInputElement>) =>
      form.set({ uniqueness: event.currentTarget.checked ? 'SERVER' : 'NONE' }),
  };
  const claims = { ...visibility('APPLICATIONS'), error: form.faultAt('visibleTo') };
  return (
    <Stack gap="xs">
      {rule(t('Several values'), form.toggle('multiValued'))}
      {rule(t('Required'), form.toggle('required'), t('Directories must send a value for active users'))}
      {rule(t('Unique in the project'), unique)}
      {rule(t('Indexed'), form.toggle('indexed'), t('Filters find equal values quickly'))}
      {type === 'STRING' && rule(t('Case-sensitive'), form.toggle('caseExact'))}
      {rule(t('Available in claims'), claims, t('Claim mappings can send it to applications'))}
      {rule(t('Shown to the user'), visibility('USER'), t('On the account page, read-only, under its description'))}
    </Stack>
  );
}

const partTypes = ['string', 'boolean', 'integer', 'decimal', 'dateTime', 'reference'] as const;
const typeOfWord = new Map(partTypes.map((word) => [word.toLowerCase(), constantOf(word)]));

/** dateTime → DATE_TIME */
function constantOf(word: string): CustomPartType {
  return word.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase() as CustomPartType;
}

function linesOf(attribute: CustomAttributeRowFragment | undefined): string {
  const words = new Map(partTypes.map((word) => [constantOf(word), word]));
  return (attribute?.subAttributes ?? []).map(({ name, type }) => `${name} ${words.get(type)}`).join('\n');
}

/** An unknown type counts as text. The rest of the attribute is kept. */
function partsOf(text: string, before: CustomAttributeRowFragment['subAttributes'] = []) {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  return lines.flatMap(([name = '', word = 'string']) => {
    const type = typeOfWord.get(word.toLowerCase()) ?? 'STRING';
    const part = before.find((each) => each.name === name && each.type === type);
    return name === '' ? [] : [part ?? { name, type }];
  });
}
