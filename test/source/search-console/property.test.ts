import { expect, it } from 'vitest';
import {
  guessedRobotsOf,
  isOfProperty,
  propertyOf,
  refusalOf,
  whyRefused,
} from '../../../src/source/search-console/property.js';

const BLOG = 'https://www.example.com/blog/';

it('knows to which property a page belongs', () => {
  const all = ['sc-domain:example.com', 'https://www.example.com/', BLOG, 'https://example.com/'];
  expect(propertyOf('https://www.example.com/blog/1', all.toReversed())).toBe(BLOG);
  expect(propertyOf('https://example.com/1', all)).toBe('https://example.com/');
  expect(propertyOf('http://a.shop.example.com/', all)).toBe('sc-domain:example.com');
  expect(isOfProperty('sc-domain:example.com', 'https://notexample.com/')).toBe(false);
  expect(isOfProperty('sc-domain:bücher.example', 'HTTPS://WWW.xn--bcher-kva.example/ä')).toBe(true);
  expect(isOfProperty('https://www.example.com/', 'http://www.example.com/')).toBe(false);
  expect(isOfProperty('https://www.example.com/café/', 'https://www.example.com/caf%C3%A9/1')).toBe(true);
  const robots = ['https://example.com/robots.txt', 'https://www.example.com/robots.txt'];
  expect(guessedRobotsOf('sc-domain:example.com')).toEqual(robots);
  expect(guessedRobotsOf(BLOG)).toEqual([]);
});

it('a 403 says what the account lacks, and which property it may read instead', () => {
  const site = (siteUrl: string, permissionLevel = 'siteOwner') => ({ siteUrl, permissionLevel });
  const sites = [site('sc-domain:far.example'), site(BLOG), site('sc-domain:not.mine', 'siteUnverifiedUser')];
  const why = (property: string) => whyRefused(property, sites, 'me@x');
  expect(why(BLOG)).toBeNull();
  expect(why('sc-domain:not.mine')).toMatch(
    /^me@x is not verified for sc-domain:not\.mine; use one that it may read, /,
  );
  expect(why('sc-domain:example.com')).toMatch(
    /^me@x has no permission for \S+; use .* \(https:\S+blog\/, sc-domain:far.example\), or have an owner add me@x in /,
  );
});

it('a refusal to an account that has the permission does not advise to give it', () => {
  const said = (permissionLevel: string) => refusalOf(['a'], [{ siteUrl: 'a', permissionLevel }], 'me');
  expect(said('siteRestrictedUser')).toMatch(/have an owner give it the permission "Full"/);
  expect(said('siteOwner')).toMatch(/it has the permission .*try again later/);
});
