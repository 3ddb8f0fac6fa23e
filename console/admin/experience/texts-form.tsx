import { Fieldset, Stack, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ExperienceOfQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { type Language, mailNames, textNames } from './content.ts';
import type { ExperienceDraft } from './use-experience-draft.ts';

type Experience = ExperienceOfQuery['experience'];

interface TextsFormProps {
  draft: ExperienceDraft;
  experience: Experience;
  language: Language;
}

/** Default page messages per text key. */
const pageMessages: Record<string, string> = { heading: 'address.title', subline: 'address.text' };

/** Page texts and footer links in one language. */
export function PageTexts({ draft, experience, language }: TextsFormProps) {
  const standard = usePageTexts(language);
  const rules = experience.textRules.filter(({ kind }) => kind !== 'mail');
  return (
    <Stack>
      {rules.map((rule) => (
        <TextField
          key={rule.key}
          {...{ draft, rule, language }}
          standard={standard[pageMessages[rule.key] ?? ''] ?? sharedText(draft, rule.key, language)}
        />
      ))}
    </Stack>
  );
}

/** Subjects and opening lines of mails in one language. */
export function MailTexts({ draft, experience, language }: TextsFormProps) {
  const rules = experience.textRules.filter(({ kind }) => kind === 'mail');
  const standardOf = (key: string) =>
    experience.standardMailTexts.find((one) => one.key === key && one.locale === language)?.text;
  return (
    <Stack gap="lg">
      {Object.entries(mailNames).map(([template, name]) => (
        <Fieldset key={template} legend={name}>
          <Stack gap="sm" mt="xs">
            {rules
              .filter(({ key }) => key.startsWith(`${template}.`))
              .map((rule) => (
                <TextField key={rule.key} {...{ draft, rule, language }} standard={standardOf(rule.key)} />
              ))}
          </Stack>
        </Fieldset>
      ))}
    </Stack>
  );
}

interface TextFieldProps {
  draft: ExperienceDraft;
  rule: Experience['textRules'][number];
  language: Language;
  standard: string | undefined;
}

function TextField({ draft, rule, language, standard }: TextFieldProps) {
  const name = `${language}.${rule.key}`;
  const value = draft.content.texts[name] ?? '';
  const isLink = rule.kind === 'link';
  const isWrongLink = isLink && value.trim() !== '' && !/^https:\/\/./i.test(value.trim());
  const lastPart = rule.key.split('.').at(-1) ?? rule.key;
  return (
    <TextInput
      label={textNames[rule.key] ?? rule.key}
      description={
        rule.placeholders.length > 0
          ? t('Filled in: {names}', { names: rule.placeholders.map((one) => `{${one}}`).join(', ') })
          : undefined
      }
      placeholder={standard ?? (isLink ? 'https://' : '')}
      type={isLink ? 'url' : 'text'}
      lang={isLink ? undefined : language}
      value={value}
      maxLength={rule.maxLength}
      disabled={!draft.mayChange}
      error={isWrongLink ? t('Must begin with https://') : value && draft.faultOf(lastPart)}
      onChange={(event) => draft.setText(name, event.currentTarget.value)}
    />
  );
}

/** Links and footer fall back to English. */
function sharedText(draft: ExperienceDraft, key: string, language: Language): string | undefined {
  return language === 'en' ? undefined : draft.content.texts[`en.${key}`];
}

function usePageTexts(language: Language): Record<string, string> {
  const [texts, setTexts] = useState<Record<string, string>>({});
  useEffect(() => {
    let isHere = true;
    fetch(`/messages/${language}.json`)
      .then((response) => response.json() as Promise<Record<string, string>>)
      .then(
        (fetched) => isHere && setTexts(fetched),
        // Only the placeholders of empty fields are missing then.
        () => undefined,
      );
    return () => {
      isHere = false;
    };
  }, [language]);
  return texts;
}
