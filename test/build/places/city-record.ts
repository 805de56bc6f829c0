// A place as the files of the default data set have it.

/** `city` may be empty. */
export const cityRecord = (city: string) => ({
  city,
  country_code: 'NO',
  latitude: { float: 1.5 },
  longitude: { float: -2.25 },
  postcode: '0150',
  state1: 'Østlandet',
  state2: '',
  timezone: '',
})
