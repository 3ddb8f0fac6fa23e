import { Box, Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Failure } from '../../failure.ts';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { type GraphqlRequest, ShowGraphql } from '../code/show-graphql.tsx';
import { FormError } from '../feedback/errors.tsx';

interface DialogFormProps {
  children: ReactNode;
  /** Label of the submit button. */
  verb: string;
  color?: 'red';
  busy: boolean;
  disabled?: boolean;
  failure: Failure | undefined;
  /** Fields that show their own errors. */
  fields?: readonly string[];
  /** The equivalent API request, for scripts. */
  graphql?: GraphqlRequest | undefined;
  onSubmit(): void;
  onClose(): void;
}

/** Content of a dialog: fields, the error, Cancel and submit. */
export function DialogForm(props: DialogFormProps) {
  const { children, verb, color, busy, disabled = false, failure, fields, graphql, onSubmit, onClose } = props;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled && !busy) onSubmit();
      }}
    >
      <Stack gap="1.25rem">
        {children}
        <FormError failure={failure} except={fields} onLoad={onClose} />
        <Group justify="flex-end" gap="xs">
          {graphql && (
            <Box mr="auto">
              <ShowGraphql {...graphql} />
            </Box>
          )}
          {/* Keeps the buttons together, even if long words wrap. */}
          <Group gap="xs" wrap="nowrap">
            {/* Gets the focus unless a field requests it. */}
            <SecondaryButton onClick={onClose} data-autofocus>
              {t('Cancel')}
            </SecondaryButton>
            <Button type="submit" {...(color ? { color } : {})} disabled={disabled} loading={busy}>
              {verb}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
