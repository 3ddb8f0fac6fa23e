import { Checkbox, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
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
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { typeNames } from './attribute-names.ts';

type Values = Omit<CreateCustomAttributeInput, 'projectId'>;

interface AttributeFormProps {
  projectId: string;
  /** Absent: a new attribute. */
  attribute?: CustomAttributeRowFragment;
  /** First values of a new one. */
  initial?: Values;
  onClose(): void;
}

const choices = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }));
const partTypes = ['string', 'boolean', 'integer', 'decimal', 'dateTime', 'reference'] as const;
const fields = ['name', 'description', 'type', 'subAttributes', 'multiValued', 'required', 'caseExact', 'mutability'];
const moreFields = ['returned', 'uniqueness', 'indexed', 'visibleTo', 'alias'];

/** Creates a custom attribute, or changes its definition. */
export function AttributeForm({ projectId, attribute, initial, onClose }: AttributeFormProps) {
  const [values, setValues] = useState<Values>(attribute ?? initial ?? { name: '', type: 'STRING' });
  const [parts, setParts] = useState(() => linesOf(attribute));
  const [create, creating, createFailure] = useMutation(CreateCustomAttribute, [CustomAttributes, AuditEvents]);
  const [update, updating, updateFailure] = useMutation(UpdateCustomAttribute, [CustomAttributes, AuditEvents]);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const isWriteOnly = values.mutability === 'WRITE_ONLY';
  const input = {
    ...{ projectId, ...values, alias: values.alias ?? '' },
    ...(isWriteOnly ? { returned: 'NEVER' as const } : {}),
    subAttributes: values.type === 'COMPLEX' ? partsOf(parts, attribute?.subAttributes) : [],
  };
  const set = (change: Partial<Values>) => setValues({ ...values, ...change });
  const flag = (name: 'multiValued' | 'required' | 'indexed' | 'caseExact') => ({
    checked: values[name] ?? false,
    error: faultAt(failure, name),
    onChange: (event: { currentTarget: { checked: boolean } }) => set({ [name]: event.currentTarget.checked }),
  });
  const visibility = (audience: CustomAudience) => {
    const others = (values.visibleTo ?? []).filter((each) => each !== audience);
    return {
      checked: values.visibleTo?.includes(audience) ?? false,
      onChange: (event: { currentTarget: { checked: boolean } }) =>
        set({ visibleTo: event.currentTarget.checked ? [...others, audience] : others }),
    };
  };
  const submit = async () => {
    const outcome = attribute ? await update({ input }) : await create({ input });
    if (!outcome.data) return;
    toast(attribute ? t('Saved') : t('Attribute created'));
    onClose();
  };
  return (
    <DialogForm
      verb={attribute ? t('Save') : t('Create attribute')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={[...fields, ...moreFields]}
      disabled={values.name.trim() === ''}
      graphql={attribute ? request(UpdateCustomAttribute, { input }) : request(CreateCustomAttribute, { input })}
      onSubmit={() => void submit()}
    >
      <Group grow align="flex-start">
        <TextInput
          label={t('Name')}
          description={attribute ? t('Cannot be changed') : t('Letters, digits, _ and -')}
          maxLength={64}
          spellCheck={false}
          autoCapitalize="none"
          disabled={attribute !== undefined}
          value={values.name}
          error={faultAt(failure, 'name')}
          onChange={(event) => set({ name: event.currentTarget.value })}
          {...firstFocus}
        />
        <Select
          label={t('Type')}
          description={t('Fixed once users have values')}
          allowDeselect={false}
          data={choices(typeNames)}
          value={values.type}
          error={faultAt(failure, 'type')}
          onChange={(type) => set({ type: type as Values['type'] })}
        />
      </Group>
      {values.type === 'COMPLEX' && (
        <Textarea
          label={t('Parts')}
          description={t('One on each line: name, a space, and the type ({partTypes})', {
            partTypes: partTypes.join(', '),
          })}
          autosize
          minRows={3}
          spellCheck={false}
          value={parts}
          error={faultAt(failure, 'subAttributes')}
          onChange={(event) => setParts(event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t('Description')}
        maxLength={500}
        value={values.description ?? ''}
        error={faultAt(failure, 'description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <Group grow align="flex-start">
        <Select
          label={t('Written by')}
          allowDeselect={false}
          data={choices({
            READ_WRITE: t('Directories and admins'),
            READ_ONLY: t('Admins only'),
            IMMUTABLE: t('Directories and admins, once'),
            WRITE_ONLY: t('Directories; never read'),
          })}
          value={values.mutability ?? 'READ_WRITE'}
          error={faultAt(failure, 'mutability')}
          onChange={(mutability) => set({ mutability: mutability as NonNullable<Values['mutability']> })}
        />
        <Select
          label={t('Returned to directories')}
          allowDeselect={false}
          disabled={isWriteOnly}
          data={choices({ DEFAULT: t('By default'), ALWAYS: t('Always'), REQUEST: t('On request'), NEVER: t('Never') })}
          value={isWriteOnly ? 'NEVER' : (values.returned ?? 'DEFAULT')}
          error={faultAt(failure, 'returned')}
          onChange={(returned) => set({ returned: returned as NonNullable<Values['returned']> })}
        />
      </Group>
      <Stack gap="xs">
        <Checkbox label={t('Several values')} {...flag('multiValued')} />
        <Checkbox
          label={t('Required')}
          description={t('Directories must send a value for active users')}
          {...flag('required')}
        />
        <Checkbox
          label={t('Unique in the project')}
          checked={values.uniqueness === 'SERVER'}
          error={faultAt(failure, 'uniqueness')}
          onChange={(event) => set({ uniqueness: event.currentTarget.checked ? 'SERVER' : 'NONE' })}
        />
        <Checkbox label={t('Indexed')} description={t('Filters find equal values quickly')} {...flag('indexed')} />
        {values.type === 'STRING' && <Checkbox label={t('Case-sensitive')} {...flag('caseExact')} />}
        <Checkbox
          label={t('Available in claims')}
          description={t('Claim mappings can send it to applications')}
          error={faultAt(failure, 'visibleTo')}
          {...visibility('APPLICATIONS')}
        />
        <Checkbox
          label={t('Shown to the user')}
          description={t('On the account page, read-only, under its description')}
          {...visibility('USER')}
        />
      </Stack>
      <TextInput
        label={t('Also accepted as')}
        description={t('A name that your directory sends already. Optional.')}
        maxLength={300}
        spellCheck={false}
        value={values.alias ?? ''}
        error={faultAt(failure, 'alias')}
        onChange={(event) => set({ alias: event.currentTarget.value })}
      />
    </DialogForm>
  );
}

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
